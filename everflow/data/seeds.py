"""The two seeds of a dataset, as tensors: TensorFlow's rules, computed in the graph since a seed may be a tensor."""

from __future__ import annotations

from everflow.framework import dtypes, seeds
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import math
from everflow.ops.array import constants
from everflow.ops.array import indexing as array_indexing


def seed_tensors(seed):
    """(seed, seed2) for a dataset made now with this op-level seed; zeros where it is free."""
    seed, seed2 = seeds.get_seed(seed)
    if seed is None:
        seed = constants.constant(0, dtype=dtypes.int64, name="seed")
    else:
        seed = convert_to_tensor(seed, dtype=dtypes.int64, name="seed")
    if seed2 is None:
        return seed, constants.constant(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        seed2 = convert_to_tensor(seed2, dtype=dtypes.int64)
        both_zero = math.logical_and(math.equal(seed, 0), math.equal(seed2, 0))
        seed2 = array_indexing.where(both_zero, constants.constant(2**31 - 1, dtype=dtypes.int64), seed2, name=scope)
    return seed, seed2
