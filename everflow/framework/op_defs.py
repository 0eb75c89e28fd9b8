"""What op types there are: inputs, outputs and attributes of each, read from `op_defs.json` when first asked."""

from __future__ import annotations

import functools
import importlib.resources
import json
from dataclasses import dataclass, field
from typing import Any

from everflow.framework import dtypes
from everflow.framework.errors import AlreadyExistsError, NotFoundError
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import TensorValue, listed_proto


@dataclass(frozen=True, slots=True)
class ArgDef:
    """An input or output argument: one tensor, or a list of them (`number_attr` or `type_list_attr`)."""

    name: str
    type: dtypes.DType | None = None
    type_attr: str = ""
    number_attr: str = ""
    type_list_attr: str = ""
    is_ref: bool = False
    is_list: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_list", bool(self.number_attr or self.type_list_attr))


@dataclass(frozen=True, slots=True)
class AttrDef:
    """An attribute: its kind ("type", "int", "list(shape)", …), default and what it may be."""

    name: str
    type: str
    default: Any = None
    has_default: bool = False
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None


@dataclass(frozen=True, slots=True)
class OpDef:
    """The definition of an op type."""

    name: str
    inputs: tuple[ArgDef, ...] = ()
    outputs: tuple[ArgDef, ...] = ()
    attrs: tuple[AttrDef, ...] = ()
    is_stateful: bool = False
    is_commutative: bool = False
    is_aggregate: bool = False
    allows_uninitialized_input: bool = False
    deprecated_at: int | None = None
    attr_by_name: dict[str, AttrDef] = field(default_factory=dict, repr=False, compare=False)
    changes_refs: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "changes_refs", any(arg.is_ref for arg in self.inputs))
        self.attr_by_name.update((attr.name, attr) for attr in self.attrs)

    def inferred_attrs(self) -> set[str]:
        """The attributes that follow from the inputs, so that nobody has to pass them."""
        names: set[str] = set()
        for arg in self.inputs:
            names.update(n for n in (arg.type_attr, arg.number_attr, arg.type_list_attr) if n)
        return names

    def past_its_time(self, version: int) -> str:
        """What to tell somebody who wants a node of it in a graph of a version that has done away with it."""
        return f"'{self.name}' ops are for graphs before version {self.deprecated_at}; this one is of version {version}"


def arg_dtypes(arg: ArgDef, attrs: dict[str, Any]) -> list[dtypes.DType]:
    """The dtypes of the tensors of one argument."""
    if arg.type_list_attr:
        types = list(attrs[arg.type_list_attr])
    else:
        dtype = arg.type if arg.type is not None else attrs[arg.type_attr]
        types = [dtype] * (attrs[arg.number_attr] if arg.number_attr else 1)
    return [t._as_ref for t in types] if arg.is_ref else types


@functools.cache
def _facts() -> dict[str, dict]:
    text = importlib.resources.files("everflow.framework").joinpath("op_defs.json").read_text()
    return json.loads(text)


_defs: dict[str, OpDef] = {}


def find(op_type: str) -> OpDef | None:
    """The definition of an op type, or None."""
    found = _defs.get(op_type)
    if found is None:
        fact = _facts().get(op_type)
        if fact is not None:
            found = _defs[op_type] = from_fact(op_type, fact)
    return found


def get(op_type: str) -> OpDef:
    """The definition of an op type; NotFoundError where there is none."""
    found = find(op_type)
    if found is None:
        raise NotFoundError(
            None,
            None,
            f"Op type not registered '{op_type}'. Is it a custom op? See everflow.framework.op_defs.register.",
        )
    return found


def names() -> list[str]:
    """All op types."""
    return sorted(set(_facts()) | set(_defs))


def register(op_def: OpDef) -> None:
    """Make a new op type known, so that graphs can hold it; see docs/adding-ops.md."""
    if find(op_def.name) is not None:
        raise AlreadyExistsError(None, None, f"Op type '{op_def.name}' is registered already")
    _defs[op_def.name] = op_def


def from_fact(name: str, fact: dict[str, Any]) -> OpDef:
    """The definition that an entry of `op_defs.json` describes."""
    return OpDef(
        name,
        tuple(_arg(a) for a in fact["inputs"]),
        tuple(_arg(a) for a in fact["outputs"]),
        tuple(_attr(a) for a in fact["attrs"]),
        **{
            k: fact.get(k, False)
            for k in ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input")
        },
        deprecated_at=fact.get("deprecated_at"),
    )


def _arg(fact: dict[str, Any]) -> ArgDef:
    rest = {k: v for k, v in fact.items() if k not in ("name", "type")}
    return ArgDef(fact["name"], dtypes.BY_ENUM_NAME[fact["type"]] if "type" in fact else None, **rest)


def _attr(fact: dict[str, Any]) -> AttrDef:
    kind = fact["type"]
    allowed = fact.get("allowed")
    if allowed is not None:
        allowed = tuple(_value(kind.removeprefix("list(").rstrip(")"), v) for v in allowed)
    default: Any = fact.get("default")
    if "default" in fact:
        if kind.startswith("list("):
            default = [_value(kind[5:-1], v) for v in default]
        else:
            default = _value(kind, default)
    return AttrDef(fact["name"], kind, default, "default" in fact, allowed, fact.get("minimum"))


def _value(kind: str, fact: Any) -> Any:
    """An attribute value of the facts file as Python holds it in a graph."""
    if kind == "type":
        return dtypes.BY_ENUM_NAME[fact]
    if kind == "string":
        return fact.encode()
    if kind == "shape":
        return TensorShape(fact.get("shape"))
    if kind == "tensor":
        return TensorValue(proto=listed_proto(fact["values"], dtypes.BY_ENUM_NAME[fact["dtype"]]))
    if kind == "float":
        return float(fact)
    return fact
