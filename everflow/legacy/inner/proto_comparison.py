"""tensorflow.python.util.protobuf.compare: whether protos are equal, in tests."""

from __future__ import annotations

import difflib
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message


def ProtoEq(a: Any, b: Any) -> bool:
    """Whether two protos say the same; a field that holds its default says what one that isn't set says in lists."""
    if not (isinstance(a, Message) and isinstance(b, Message)):
        return bool(a == b)
    return a.DESCRIPTOR.full_name == b.DESCRIPTOR.full_name and a.SerializeToString(
        deterministic=True
    ) == b.SerializeToString(deterministic=True)


def NormalizeNumberFields(pb: Message) -> Message:
    """The proto itself, with so many digits of its floats only that those which differ by rounding are equal."""
    for field, value in pb.ListFields():
        if field.type not in (field.TYPE_FLOAT, field.TYPE_DOUBLE, field.TYPE_MESSAGE):
            continue
        if field.type == field.TYPE_MESSAGE:
            held = value.values() if hasattr(value, "values") else value if field.is_repeated else [value]
            for part in held:
                if isinstance(part, Message):
                    NormalizeNumberFields(part)
        else:
            digits = 6 if field.type == field.TYPE_FLOAT else 7
            if field.is_repeated:
                value[:] = [round(number, digits) for number in value]
            else:
                setattr(pb, field.name, round(value, digits))
    return pb


def assertProtoEqual(
    self: Any,
    a: Any,
    b: Message,
    check_initialized: bool = True,
    normalize_numbers: bool = False,
    msg: str | None = None,
) -> None:
    """Fail a test case unless two protos are equal; the first may be text."""
    if isinstance(a, str):
        a = text_format.Parse(a, type(b)())
    for proto in (a, b):
        if check_initialized and proto.FindInitializationErrors():
            self.fail(f"Fields that a proto needs are not set: {proto.FindInitializationErrors()}")
        if normalize_numbers:
            NormalizeNumberFields(proto)
    if not ProtoEq(a, b):
        one, other = (text_format.MessageToString(proto, descriptor_pool=None).splitlines(True) for proto in (a, b))
        self.fail((f"{msg}: " if msg else "") + "".join(difflib.unified_diff(one, other, "first", "second")))


class ProtoAssertions:
    """Mix-in of test cases."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:
        """See the function of this name."""
        assertProtoEqual(self, *args, **kwargs)
