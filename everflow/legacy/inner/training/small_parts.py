"""Names that programs take from inside TensorFlow's modules of optimizers, checkpoints and sessions of training."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from everflow.framework.scopes import executing_eagerly


def get_filtered_grad_fn(grad_fn: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """A function that gives the pairs of gradient and variable that another one gives, without those of no gradient."""

    def filtered(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return [(gradient, variable) for gradient, variable in grad_fn(*args, **kwargs) if gradient is not None]

    return filtered


def _var_key(var: Any) -> tuple[Any, str] | Any:
    """What an optimizer keeps slots of a variable under: its graph and name, or executing eagerly its number."""
    var = getattr(var, "_distributed_container", lambda: None)() or var
    return var._unique_id if executing_eagerly() else (var.op.graph, var.op.name)


def _GetCheckpointFilename(save_dir: Any, latest_filename: str | None) -> str:
    """The path of the file that tells which checkpoints a folder has."""
    return os.path.join(save_dir, latest_filename or "checkpoint")


def _maybe_name(obj: Any) -> str:
    """What to call something in a message."""
    return "None" if obj is None else getattr(obj, "name", f"<no name for {type(obj)}>")
