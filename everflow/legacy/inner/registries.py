"""Names that programs take from inside TensorFlow's modules `registry`, `op_def_registry` and `kernels`: what is
registered, by name.
"""

from __future__ import annotations

from collections.abc import KeysView
from typing import Any

from everflow.framework import op_defs
from everflow.framework.op_def_protos import from_proto, to_proto
from everflow.kernels.registry import lookup
from everflow.protos import kernel_def_pb2, op_def_pb2


class Registry:
    """Things by name: each can be registered once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._registry: dict[str, Any] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Keep a thing under a name, or its own; KeyError where there is one already."""
        name = name or candidate.__name__
        if name in self._registry:
            raise KeyError(f"{self._name} has {name!r} already")
        self._registry[name] = candidate

    def list(self) -> KeysView[str]:
        """All names."""
        return self._registry.keys()

    def lookup(self, name: str) -> Any:
        """The thing under a name; LookupError where there is none."""
        if name not in self._registry:
            raise LookupError(f"{self._name} has nothing under the name {name!r}")
        return self._registry[name]


def get_registered_ops() -> dict[str, op_def_pb2.OpDef]:
    """{op type: its definition} of all that are known."""
    return {name: to_proto(op_defs.get(name)) for name in op_defs.names()}


def get(name: str) -> op_def_pb2.OpDef | None:
    """The definition of one op type; None where there is none."""
    found = op_defs.find(name)
    return None if found is None else to_proto(found)


def register_op_list(op_list: op_def_pb2.OpList) -> None:
    """Make the op types of a list known."""
    if not isinstance(op_list, op_def_pb2.OpList):
        raise TypeError(f"op_list must be an OpList, not {op_list!r}, a {type(op_list).__name__}")
    for op_def in op_list.op:
        known = op_defs.find(op_def.name)
        if known is None:
            op_defs.register(from_proto(op_def))
        elif to_proto(known) != op_def:
            raise ValueError(f"Op type {op_def.name!r} is registered already, with another definition")


def get_all_registered_kernels() -> kernel_def_pb2.KernelList:
    """The op types that can run, each with the kind of device."""
    return kernel_def_pb2.KernelList(kernel=[kernel for name in op_defs.names() for kernel in _kernels_of(name)])


def get_registered_kernels_for_op(name: str) -> kernel_def_pb2.KernelList:
    """How an op type can run: none where it can't."""
    return kernel_def_pb2.KernelList(kernel=_kernels_of(name))


def _kernels_of(op_type: str) -> list[kernel_def_pb2.KernelDef]:
    found = lookup(op_type)
    return [] if found is None else [kernel_def_pb2.KernelDef(op=op_type, device_type="CPU")]
