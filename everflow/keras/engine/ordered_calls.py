"""Calls of layers in the graph that Keras keeps for models where all else runs at once: their effects run in the order of the
program, as in a function's body, and the outputs wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.framework import nest
from everflow.framework.composites import IndexedSlices, SparseTensor
from everflow.framework.operation import Tensor
from everflow.keras.backend.state import in_symbolic_graph
from everflow.ops.control_flow.automatic_dependencies import AutomaticControlDependencies


def called_in_order(call: Callable, *args: Any, **kwargs: Any) -> Any:
    """What `call` gives; in the graph of models each output is a tensor of its own, behind all effects of the call."""
    if not in_symbolic_graph():
        return call(*args, **kwargs)
    with AutomaticControlDependencies() as order:
        return mark_as_return(call(*args, **kwargs), order)


def mark_as_return(outputs: Any, acd: AutomaticControlDependencies) -> Any:
    """Outputs that run after all that a function's automatic dependencies hold, with the masks they had."""

    def marked(value: Any) -> Any:
        if not isinstance(value, (Tensor, IndexedSlices, SparseTensor)):
            return value
        made = acd.mark_as_return(value)
        if getattr(value, "_keras_mask", None) is not None:
            made._keras_mask = acd.mark_as_return(value._keras_mask)
        return made

    return nest.map_structure(marked, outputs)
