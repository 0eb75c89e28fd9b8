"""Names that programs take from inside TensorFlow's modules of SavedModels: nested values as messages."""

from __future__ import annotations

from typing import Any

from everflow.protos.struct_pb2 import StructuredValue
from everflow.saved_model.structured_values import decode, encode


class NotEncodableError(Exception):
    """A value that a file can't hold."""


class StructureCoder:
    """Nested values of numbers, words, shapes, types and TensorSpecs, to and from StructuredValue messages."""

    def can_encode(self, nested_structure: Any) -> bool:
        """Whether a file can hold a value."""
        try:
            encode(nested_structure)
        except ValueError:
            return False
        return True

    def encode_structure(self, nested_structure: Any) -> StructuredValue:
        """A value as a message."""
        try:
            return encode(nested_structure)
        except ValueError as e:
            raise NotEncodableError(str(e)) from e

    def decode_proto(self, proto: StructuredValue) -> Any:
        """The value that a message holds."""
        if proto.WhichOneof("kind") is None:
            raise NotEncodableError("The message holds no value")
        return decode(proto)
