"""tensorflow.python.debug.cli.evaluator: expressions of numpy with dumped tensors in them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_QUOTED = re.compile(r"`([^`]+)`")
# [device:]node:output[:what was dumped of it][[which time]]
_TENSOR = re.compile(
    r"(?P<device>/job:[^:]+/replica:\d+/task:\d+/(?:device:)?[A-Za-z]+:\d+:)?"
    r"(?P<node>[^:\[\]]*):(?P<slot>\d+)(?::(?P<op>[^:\[\]]*))?(?:\[(?P<number>\d+)\])?"
)


def _parse_debug_tensor_name(debug_tensor_name: str) -> tuple[str | None, str, int, str, int]:
    """(device, node, output, what was dumped of it, which time)"""
    found = _TENSOR.fullmatch(debug_tensor_name)
    if found is None:
        raise ValueError(f"{debug_tensor_name!r} names no dumped tensor: [device:]node:output[:DebugOp][[number]]")
    device, node, slot, op, number = found.groups()
    return device and device[:-1], node, int(slot), "DebugIdentity" if op is None else op, int(number or 0)


class ExpressionEvaluator:
    """Computes what somebody types at the debugger: Python with numpy as `np`, and tensors of a dump in backticks."""

    def __init__(self, dump: Any) -> None:
        self._dump = dump
        self._known: dict[str, Any] = {}

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; ValueError where it names a tensor that wasn't dumped."""
        names = list(dict.fromkeys(_QUOTED.findall(expression)))
        for name in names:
            if name not in self._known:
                self._known[name] = self._value_of(name)
        values = [self._known[name] for name in names]
        text = _QUOTED.sub(lambda found: f"_tensors[{names.index(found[1])}]", expression)
        return eval(text, {"np": np, "_tensors": values})

    def _value_of(self, name: str) -> Any:
        device, node, slot, op, number = _parse_debug_tensor_name(name)
        try:
            values = self._dump.get_tensors(node, slot, op, device_name=device)
        except ValueError as not_there:
            raise ValueError(f"{name!r} has no value in this dump: {not_there}") from not_there
        return values[number]
