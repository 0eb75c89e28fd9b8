"""tensorflow.python.training.optimizer.get_filtered_grad_fn: gradients without those that aren't there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def get_filtered_grad_fn(grad_fn: Callable[..., list[tuple[Any, Any]]]) -> Callable[..., list[tuple[Any, Any]]]:
    """A function that calls `grad_fn` and leaves out the pairs (gradient, variable) whose gradient is None."""

    def filtered_grad_fn(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return [pair for pair in grad_fn(*args, **kwargs) if pair[0] is not None]

    return filtered_grad_fn
