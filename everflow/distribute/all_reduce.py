"""Builders of all-reduce: tensors on several devices, each replaced by the reduction of all.

The ways that these names stand for (rings, halving, shuffles) differ in how data travels between devices. Here devices
share one memory, so each builder reduces once, on the first device, and hands the result to every other.
"""

from __future__ import annotations

from everflow.framework.scopes import device
from everflow.ops.array import identity


def _reduced(input_tensors, red_op, un_op) -> list:
    if not input_tensors:
        raise ValueError("input_tensors must not be empty")
    shape = input_tensors[0].shape
    for tensor in input_tensors[1:]:
        if not tensor.shape.is_compatible_with(shape):
            raise ValueError(f"input tensors must all have the same shape, not {shape} and {tensor.shape}")
    with device(input_tensors[0].device):
        total = input_tensors[0]
        for tensor in input_tensors[1:]:
            total = red_op(total, tensor)
        if un_op is not None:
            total = un_op(total)
    results = []
    for tensor in input_tensors:
        with device(tensor.device):
            results.append(identity(total))
    return results


def build_ring_all_reduce(input_tensors, num_workers, num_subchunks, gpu_perm, red_op, un_op=None):
    """All-reduce along a ring of `num_workers` times as many devices as `gpu_perm` orders."""
    del num_workers, num_subchunks, gpu_perm
    return _reduced(input_tensors, red_op, un_op)


def build_recursive_hd_all_reduce(input_tensors, red_op, un_op=None):
    """All-reduce by halving and doubling; for a power of two of tensors."""
    if len(input_tensors) & (len(input_tensors) - 1):
        raise ValueError("input_tensors must be a power of two in length")
    return _reduced(input_tensors, red_op, un_op)


def build_shuffle_all_reduce(input_tensors, gather_devices, red_op, un_op=None):
    """All-reduce of shards on `gather_devices`; `red_op` takes a list of tensors."""
    del gather_devices
    return _of_list(input_tensors, red_op, un_op)


def build_shuffle_then_ring(input_tensors, gather_devices, subdiv, red_n_op, red_op, un_op=None):
    """Shuffles inside each worker, then a ring between workers."""
    del gather_devices, subdiv, red_n_op
    return _reduced(input_tensors, red_op, un_op)


def build_shuffle_then_shuffle(input_tensors, first_gather_devices, second_gather_devices, red_op, un_op=None):
    """Shuffles inside each worker, then between workers; `red_op` takes a list of tensors."""
    del first_gather_devices, second_gather_devices
    return _of_list(input_tensors, red_op, un_op)


def _of_list(input_tensors, red_op, un_op):
    return _reduced(input_tensors, lambda a, b: red_op([a, b]), un_op)
