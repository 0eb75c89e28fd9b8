"""What is seen of an object that an old node hands on by reference: two strings, where it lives and its name."""

from __future__ import annotations

from everflow.kernels.strings.text import strings
from everflow.kernels.tensors import Strings


class OldHandle:
    """An object with a name. References to it are read like those to a variable."""

    name: str
    container = b"localhost"

    @property
    def value(self) -> Strings:
        return strings([self.container, self.name.encode()], [2])
