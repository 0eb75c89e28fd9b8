"""Names that programs take from inside TensorFlow's modules of optimizers, checkpoints and sessions of training."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from everflow.framework.scopes import executing_eagerly
from everflow.ops.queues.queues import FIFOQueue, PaddingFIFOQueue


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


def _as_tensor_list(tensors: Any) -> Any:
    """The values of a dict in the order of its keys; anything else as it is."""
    return [tensors[key] for key in sorted(tensors)] if isinstance(tensors, dict) else tensors


def _as_original_type(original_tensors: Any, tensor_list: Any) -> Any:
    """What `_as_tensor_list` took apart, put together again of other values; a value alone stands for a list of it."""
    if not isinstance(original_tensors, dict):
        return tensor_list
    keys = sorted(original_tensors)
    # What comes from a queue of one part is no list.
    return {keys[0]: tensor_list} if len(keys) == 1 else dict(zip(keys, tensor_list, strict=True))


def _as_tensor_list_list(tensors_list: Any) -> list[Any]:
    """`_as_tensor_list` of each; dicts must have the same keys."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict) and any(set(each) != set(tensors_list[0]) for each in tensors_list):
        raise ValueError("All dictionaries must have the same keys")
    return [_as_tensor_list(each) for each in tensors_list]


def _flatten(tensor_list_list: Any) -> list[Any]:
    return [tensor for tensors in tensor_list_list for tensor in tensors]


def _which_queue(dynamic_pad: bool) -> type:
    """The class of queue that holds elements of any shape, or those of one."""
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue
