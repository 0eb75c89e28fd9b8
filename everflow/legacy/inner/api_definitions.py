"""tensorflow.python.framework.c_api_util.ApiDefMap: how op types are shown to the languages that build graphs."""

from __future__ import annotations

from collections.abc import KeysView

from google.protobuf import text_format

from everflow.framework import errors, op_defs
from everflow.framework.op_def_protos import to_proto
from everflow.protos import api_def_pb2, op_def_pb2

__all__ = ["ApiDefMap"]


class ApiDefMap:
    """What each op type and its arguments are called, with changes that texts bring before the first is asked for."""

    def __init__(self) -> None:
        self._op_per_name = {name: to_proto(op_defs.get(name)) for name in op_defs.names()}
        self._changes: dict[str, api_def_pb2.ApiDef] = {}
        self._asked = False

    def op_names(self) -> KeysView[str]:
        """The names of all op types."""
        return self._op_per_name.keys()

    def get_op_def(self, op_name: str) -> op_def_pb2.OpDef:
        """The definition of an op type; ValueError where there is none."""
        if op_name not in self._op_per_name:
            raise ValueError(f"There is no op type {op_name!r}")
        return self._op_per_name[op_name]

    def put_api_def(self, text: str) -> None:
        """Change what the text of an ApiDefs message says."""
        if self._asked:
            raise errors.FailedPreconditionError(
                None, None, "An ApiDefMap changes before the first get_api_def, not after it"
            )
        try:
            changes = text_format.Parse(text, api_def_pb2.ApiDefs())
        except text_format.ParseError as e:
            raise errors.InvalidArgumentError(None, None, f"This is no text of ApiDefs: {e}") from e
        for change in changes.op:
            self._changes[change.graph_op_name] = change

    def get_api_def(self, op_name: str) -> api_def_pb2.ApiDef:
        """How an op type is shown."""
        self._asked = True
        shown = _plain(self.get_op_def(op_name))
        change = self._changes.get(op_name)
        if change is None:
            return shown
        for field in ("in_arg", "out_arg", "attr"):
            by_name = {part.name: part for part in getattr(shown, field)}
            for part in getattr(change, field):
                if part.name not in by_name:
                    raise errors.InvalidArgumentError(None, None, f"{op_name} has no {field} {part.name!r}")
                by_name[part.name].MergeFrom(part)
            change.ClearField(field)
        for field in ("endpoint", "arg_order"):
            if getattr(change, field):
                shown.ClearField(field)
        shown.MergeFrom(change)
        return shown


def _plain(op_def: op_def_pb2.OpDef) -> api_def_pb2.ApiDef:
    """An op type under its own names."""
    shown = api_def_pb2.ApiDef(graph_op_name=op_def.name, visibility=api_def_pb2.ApiDef.VISIBLE)
    shown.endpoint.add(name=op_def.name)
    for field, args in (("in_arg", op_def.input_arg), ("out_arg", op_def.output_arg)):
        for arg in args:
            getattr(shown, field).add(name=arg.name, rename_to=arg.name, description=arg.description)
    for attr in op_def.attr:
        made = shown.attr.add(name=attr.name, rename_to=attr.name, description=attr.description)
        if attr.HasField("default_value"):
            made.default_value.CopyFrom(attr.default_value)
    shown.arg_order.extend(arg.name for arg in op_def.input_arg)
    shown.summary, shown.description = op_def.summary, op_def.description
    return shown
