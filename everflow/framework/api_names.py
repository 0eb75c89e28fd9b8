"""The public names of TensorFlow 1.15 (`api_names.txt`), so that an error can tell a missing feature from a misspelt
name.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Any


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(pathlib.Path(__file__).with_name("api_names.txt").read_text().split())


def in_tensorflow(name: str) -> bool:
    """Whether TensorFlow 1.15 has `tf.NAME`; `name` may have dots.

    >>> in_tensorflow("nn.relu"), in_tensorflow("nn.rely")
    (True, False)
    """
    return name in _names() or name.split(".")[0] == "contrib"


def ending_in(name: str) -> list[str]:
    """The public names whose last part is `name`, shortest first."""
    return sorted((n for n in _names() if n.rpartition(".")[2] == name), key=lambda n: (n.count("."), n))


def resolve(root: Any, path: str) -> Any:
    """What a public name stands for, from the root namespace on; None where it isn't there."""
    found = root
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
