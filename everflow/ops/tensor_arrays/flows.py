"""What loops and branches need to know of TensorArrays: the flow, a tensor that passes through them in the array's
stead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class HasFlow:
    """An object with a tensor `flow`; `with_flow(flow)` gives the object that another flow stands for."""

    flow: Any

    def with_flow(self, flow: Any) -> Any:
        raise NotImplementedError


def flow_of(value: Any) -> Any:
    """The flow of a TensorArray; other values as they are."""
    return value.flow if isinstance(value, HasFlow) else value


def with_flows_of(originals: Iterable, tensors: Iterable) -> list:
    """Tensors, those that stand for a TensorArray's flow turned into that array again."""
    return [o.with_flow(t) if isinstance(o, HasFlow) else t for o, t in zip(originals, tensors)]
