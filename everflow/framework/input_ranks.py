"""What ranks the arguments of op types have, for those whose shape rules don't look at all of them: `input_ranks.txt`.

A line has a rank for each argument of the op types behind it: `2`, `1+` (at least), `1-` (at most) or `-` for any. An
argument that is a list of tensors has one for all of them; arguments at the end that may have any are left out.
"""

from __future__ import annotations

import functools
import importlib.resources
from typing import TYPE_CHECKING

from everflow.framework import op_defs

if TYPE_CHECKING:
    from everflow.framework.operation import Operation


@functools.cache
def _table() -> dict[str, list[tuple[int, int] | None]]:
    """{op type: least and greatest rank of each argument, None for any}."""
    lines = importlib.resources.files("everflow.framework").joinpath("input_ranks.txt").read_text().splitlines()
    found = {}
    for ranks, op_types in (line.split(": ") for line in lines):
        found.update(dict.fromkeys(op_types.split(), [_limits(rank) for rank in ranks.split()]))
    return found


def _limits(rank: str) -> tuple[int, int] | None:
    if rank == "-":
        return None
    least = 0 if rank.endswith("-") else int(rank[0])
    return least, 99 if rank.endswith("+") else int(rank[0])


def check(op: Operation) -> None:
    """ValueError where an input of an op has a rank that its argument can't have."""
    limits = _table().get(op._type)
    if limits is None:
        return
    tensors = iter(op.inputs)
    for arg, limit in zip(op_defs.get(op._type).inputs, limits):
        for _ in op_defs.arg_dtypes(arg, op.attrs):
            rank = next(tensors).shape.rank
            if rank is not None and limit is not None and not limit[0] <= rank <= limit[1]:
                raise ValueError(f"Shape must be {_said(*limit)} but is rank {rank}")


def _said(least: int, most: int) -> str:
    if least == most:
        return f"rank {least}"
    return f"at most rank {most}" if least == 0 else f"at least rank {least}"
