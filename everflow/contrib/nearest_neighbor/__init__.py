"""tf.contrib.nearest_neighbor: which cells of hash tables to look into for the neighbours of a point."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable

__all__ = ["hyperplane_lsh_probes"]


def hyperplane_lsh_probes(point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes, name=None):
    """The hash values to look up in locality-sensitive hashing by hyperplanes, the likeliest first.

    Args:
      point_hyperplane_product: A matrix: each point's products with the normals of all hyperplanes, table by table.
      num_tables: How many hash tables there are.
      num_hyperplanes_per_table: How many hyperplanes each has: the bits of its hash values.
      num_probes: How many cells to name for each point.
      name: The name of the operation.

    Returns:
      A namedtuple of two int32 matrices, a row for each point: `probes`, the hash values, and `table_ids`, their tables.
    """
    return raw.HyperplaneLSHProbes(
        point_hyperplane_product=point_hyperplane_product,
        num_tables=num_tables,
        num_hyperplanes_per_table=num_hyperplanes_per_table,
        num_probes=num_probes,
        name=name,
    )


not_differentiable("HyperplaneLSHProbes")
