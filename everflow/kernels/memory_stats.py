"""What `tf.contrib.memory_stats` tells: tensors live in main memory here, so it is the memory of this process."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable

import torch

from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh

_PAGE = os.sysconf("SC_PAGE_SIZE")


def process_bytes() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * _PAGE
    except FileNotFoundError:  # not Linux: the highest there was is the best that is known
        return _highest_process_bytes()


def _highest_process_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _total_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * _PAGE


_ON_CPU = {"BytesInUse": process_bytes, "MaxBytesInUse": _highest_process_bytes, "BytesLimit": _total_bytes}


def _reading(on_cpu: Callable[..., int]) -> Callable[..., torch.Tensor]:
    def read() -> torch.Tensor:
        return torch.tensor(on_cpu(), dtype=torch.int64)

    return read


for _op_type, _function in _ON_CPU.items():
    fresh(_op_type, effect=Effect.READS)(_reading(_function))
