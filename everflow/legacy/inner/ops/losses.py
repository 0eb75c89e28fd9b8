"""A name that programs take from inside tensorflow.python.ops.losses.util: losses of examples must have an axis for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops.checks.shapes import assert_rank_at_least

__all__ = ["check_per_example_loss_rank"]


@contextlib.contextmanager
def check_per_example_loss_rank(per_example_loss: Tensor) -> Iterator[None]:
    """A context whose operations run once the losses are known to have an axis.

    Raises:
        ValueError: If it is known while the graph is drawn that they haven't.
    """
    rank = per_example_loss.shape.rank
    if rank == 0:
        raise ValueError(f"Losses of examples have an axis at least; these have the shape {per_example_loss.shape}")
    checks = [] if rank is not None else [assert_rank_at_least(per_example_loss, 1)]
    with control_dependencies(checks):
        yield
