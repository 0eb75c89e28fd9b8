"""Cells to look into around a point, for locality-sensitive hashing by hyperplanes: `tf.contrib.nearest_neighbor`."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

import torch

from everflow.framework.errors import InternalError, InvalidArgumentError
from everflow.kernels.registry import fresh


@fresh("HyperplaneLSHProbes")
def hyperplane_lsh_probes(
    point_hyperplane_product: torch.Tensor,
    num_tables: torch.Tensor,
    num_hyperplanes_per_table: torch.Tensor,
    num_probes: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Hash values and their tables, a row for each point."""
    tables, planes, probes = (int(n) for n in (num_tables, num_hyperplanes_per_table, num_probes))
    for what, number in (("num_tables", tables), ("num_hyperplanes_per_table", planes), ("num_probes", probes)):
        if number < 1:
            raise InvalidArgumentError(None, None, f"{what} must be at least 1, got {number}")
    if point_hyperplane_product.dim() != 2 or point_hyperplane_product.shape[1] != tables * planes:
        raise InvalidArgumentError(
            None,
            None,
            f"{tables} tables of {planes} hyperplanes need products of shape [points, {tables * planes}], got "
            f"{list(point_hyperplane_product.shape)}",
        )
    if probes > tables << planes:
        raise InternalError(None, None, f"{probes} probes are more than the {tables << planes} cells that there are")
    rows = [
        list(itertools.islice(_cells(row, planes), probes))
        for row in point_hyperplane_product.reshape(-1, tables, planes).tolist()
    ]
    both = torch.tensor(rows, dtype=torch.int32).reshape(-1, probes, 2)
    return both[..., 0].contiguous(), both[..., 1].contiguous()


def _cells(products: list[list[float]], planes: int) -> Iterator[tuple[int, int]]:
    """(hash value, table) for one point: the cells it is in, then others, by how far they are: the sum of squares of the
    products whose signs have to be turned.
    """
    homes = [sum((p >= 0) << (planes - 1 - i) for i, p in enumerate(row)) for row in products]
    yield from ((home, table) for table, home in enumerate(homes))
    # The nearest planes of each table first; a cell is then the set of those turned, as places in that order. From a
    # set with the last place i come the sets with i + 1 added and with i + 1 in the place of i: every set once, none
    # before a nearer one.
    orders = [sorted((p * p, planes - 1 - i) for i, p in enumerate(row)) for row in products]
    heap = [(order[0][0], table, 0, homes[table] ^ 1 << order[0][1]) for table, order in enumerate(orders)]
    heapq.heapify(heap)
    while heap:
        distance, table, last, cell = heapq.heappop(heap)
        yield cell, table
        if last + 1 < planes:
            (here, bit), (there, following) = orders[table][last], orders[table][last + 1]
            heapq.heappush(heap, (distance + there, table, last + 1, cell ^ 1 << following))
            heapq.heappush(heap, (distance - here + there, table, last + 1, cell ^ 1 << bit ^ 1 << following))
