"""What layers are in a SavedModel. `keras/saving/saved_model/save.py`, which is built on models, registers it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_forms: dict[str, Callable] = {}


def register_forms(identity: Callable, branches: Callable) -> None:
    """`identity(layer)` and `branches(layer)` as `Layer._saved_identity` and `_saved_branches` give them."""
    _forms.update(identity=identity, branches=branches)


def identity(layer: Any) -> tuple[str, str]:
    """(identifier, metadata) of a layer in the file."""
    return _forms["identity"](layer)


def branches(layer: Any) -> dict:
    """What hangs on a layer in the file besides what checkpoints follow."""
    return _forms["branches"](layer)
