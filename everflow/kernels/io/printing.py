"""Kernels that show values: Assert, Print, PrintV2; and the time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes, errors
from everflow.framework.forking import renewed
from everflow.kernels.facts import Effect, same
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.numbers import number_text

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import AnyTensor, Strings, Value


def summary(value: AnyTensor, dtype: DType, limit: int) -> str:
    """The first `limit` elements of a tensor (all for a negative limit), with brackets around inner dimensions."""
    array = (
        value if isinstance(value, np.ndarray) else (value.float() if value.dtype is torch.bfloat16 else value).numpy()
    )
    limit = array.size if limit < 0 else limit
    if dtype is dtypes.string:
        shown = [v.decode("utf-8", "replace") for v in array.ravel()[:limit]]
    elif dtype is dtypes.bool:
        shown = [str(int(v)) for v in array.ravel()[:limit]]
    else:
        shown = [number_text(v, dtype) for v in array.ravel()[:limit].tolist()]
    text = _nested(array.shape, iter(shown), len(shown)) if array.ndim else "".join(shown)
    return text + "..." if array.size > limit else text


def _nested(shape: tuple[int, ...], elements: Iterator[str], left: int) -> str:
    """Elements in brackets by dimension, as far as they go; an inner row that is cut off ends in dots."""
    used = 0

    def row(depth: int) -> str:
        nonlocal used
        if depth == len(shape) - 1:
            count = min(shape[depth], left - used)
            used += count
            cut = "..." if depth and count < shape[depth] else ""
            return " ".join(next(elements) for _ in range(count)) + cut
        parts = []
        for _ in range(shape[depth]):
            if used >= left:
                break
            parts.append(f"[{row(depth + 1)}]")
        return "".join(parts)

    return row(0)


@kernel("Assert")
def assert_(condition: torch.Tensor, data: list[Value], *, summarize: int, node: Node) -> None:
    if condition.ndim != 0:
        raise errors.InvalidArgumentError(None, None, f"In[0] should be a scalar: {list(condition.shape)}")
    if bool(condition):
        return
    shown = "".join(
        f" [{summary(value, dtype.base_dtype, summarize)}]" for value, dtype in zip(data, node.input_dtypes[1:])
    )
    raise errors.InvalidArgumentError(None, None, f"assertion failed:{shown}")


class _Counter:
    """How often a Print node has printed in a session."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = renewed(threading.Lock())

    def take(self, limit: int) -> bool:
        with self._lock:
            self.count += 1
            return limit < 0 or self.count <= limit


@kernel("Print", result=same(0))
def print_(
    input: AnyTensor, data: list[Value], *, message: str, first_n: int, summarize: int, node: Node, session: Session
) -> AnyTensor:
    counter = session.own("print counter", node.name, _Counter)
    if counter.take(first_n):
        parts = [
            f"[{summary(value, dtype.base_dtype, summarize)}]" for value, dtype in zip(data, node.input_dtypes[1:])
        ]
        sys.stderr.write(message + "".join(parts) + "\n")
    return input


# Where the streams that begin with "log" go, and the letter their lines begin with.
_LOG = {"log(info)": "I", "log(warning)": "W", "log(error)": "E"}


@kernel("PrintV2")
def print_v2(input: Strings, *, output_stream: str, end: str) -> None:
    text = input.item().decode("utf-8", "replace") if isinstance(input, np.ndarray) else str(input)
    if output_stream.startswith("file://"):
        with open(output_stream[len("file://") :], "a", encoding="utf-8") as file:
            file.write(text + end)
    elif output_stream == "stdout":
        sys.stdout.write(text + end)
        sys.stdout.flush()
    elif output_stream == "stderr":
        sys.stderr.write(text + end)
        sys.stderr.flush()
    elif output_stream in _LOG:
        sys.stderr.write(f"{_LOG[output_stream]} {text}{end}")
    else:
        raise errors.InvalidArgumentError(None, None, f"Unknown output stream {output_stream!r}")


@fresh("Timestamp", effect=Effect.READS)
def timestamp() -> torch.Tensor:
    return torch.tensor(time.time(), dtype=torch.float64)
