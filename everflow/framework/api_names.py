"""The public names of TensorFlow 1.15 (`api_names.txt`, and `contrib_names.txt` for tf.contrib), so that an error can tell
a missing feature from a misspelt name.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Any

# The parts of tf.contrib that are missing here as a whole.
MISSING_CONTRIB = frozenset(
    """
    bigtable cloud ffmpeg fused_conv hadoop ignite kafka kinesis quantization
    remote_fused_graph stat_summarizer
    """.split()
)


@functools.cache
def public_names() -> frozenset[str]:
    """Every public name, without raw ops and the copies of all below tf.compat."""
    here = pathlib.Path(__file__)
    contrib = {f"contrib.{name}" for name in here.with_name("contrib_names.txt").read_text().split()}
    return frozenset(here.with_name("api_names.txt").read_text().split()) | contrib


@functools.cache
def _names() -> frozenset[str]:
    """Public names, and packages of tf.contrib."""
    parts = {".".join(name.split(".")[:2]) for name in public_names() if name.startswith("contrib.")}
    return public_names() | parts | {f"contrib.{name}" for name in MISSING_CONTRIB}


def in_tensorflow(name: str) -> bool:
    """Whether TensorFlow 1.15 has `tf.NAME`; `name` may have dots.

    >>> in_tensorflow("nn.relu"), in_tensorflow("nn.rely")
    (True, False)
    """
    return name in _names() or name.split(".")[0] == "contrib"


def is_listed(name: str) -> bool:
    """The same, but of tf.contrib only what TensorFlow shows there."""
    return name in _names()


def ending_in(name: str) -> list[str]:
    """The public names whose last part is `name`, shortest first, tf.contrib's last."""
    found = (n for n in _names() if n.rpartition(".")[2] == name)
    return sorted(found, key=lambda n: (n.startswith("contrib."), n.count("."), n))


def resolve(root: Any, path: str) -> Any:
    """What a public name stands for, from the root namespace on; None where it isn't there."""
    found = root
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
