"""TensorFlow's `python.eager.tape` and `imperative_grad`: tapes by hand, which GradientTape starts and stops by itself."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from everflow.framework import nest, tapes
from everflow.framework.operation import Tensor
from everflow.framework.tapes import stop_recording, variable_accessed
from everflow.ops.gradients.reverse import UnconnectedGradients
from everflow.ops.gradients.tape import GradientTape

__all__ = ["stop_recording", "variable_accessed"]

# How gradients are added, counted and made; those of tensors are the only ones here.
VSpace = collections.namedtuple("VSpace", ["aggregate_fn", "num_elements_fn", "zeros_fn", "ones_fn", "graph_shape_fn"])


class Tape(GradientTape):
    """A tape that records between `push_tape` and `pop_tape`."""


def push_new_tape(persistent: bool = False, watch_accessed_variables: bool = True) -> Tape:
    """A new tape that records from now on."""
    tape = Tape(persistent, watch_accessed_variables)
    tape._push_tape()
    return tape


def push_tape(tape: Tape) -> None:
    """Let a tape record again."""
    tape._push_tape()


def pop_tape(tape: Tape) -> None:
    """Let a tape record no more."""
    tape._pop_tape()


def watch(tape: GradientTape, tensor: Tensor) -> None:
    """Remember what is made from a tensor from now on."""
    tape.watch(tensor)


def watch_variable(tape: GradientTape, variable: Any) -> None:
    """Remember what is made from a variable from now on."""
    tape.watch(variable)


def variables_accessed(variables: Iterable[Any]) -> None:
    """Tell the tapes that listen of variables about to be read."""
    for variable in variables:
        variable_accessed(variable)


def could_possibly_record() -> bool:
    """Whether a tape listens."""
    return bool(tapes.active())


def should_record(tensors: Iterable[Tensor]) -> bool:
    """Whether a tape watches one of the tensors."""
    return tapes.watch_any(tensors)


def record_operation(
    op_type: str, output_tensors: Sequence[Tensor], input_tensors: Sequence[Tensor], backward_function: Callable
) -> None:
    """Tell the tapes of outputs made from inputs, with a function from gradients of those to gradients of these."""
    del op_type
    tapes.record(tapes.CallRecord(list(input_tensors), list(output_tensors), backward_function))


def delete_trace(tensor_id: int) -> None:
    """Tapes hold what they need of a tensor until they go themselves: nothing to do."""
    del tensor_id


def imperative_grad(
    tape: GradientTape,
    target: Sequence[Tensor],
    sources: Sequence[Any],
    output_gradients: Sequence[Any] | None = None,
    sources_raw: Sequence[Any] | None = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradients of `target` with respect to `sources`, from what a tape has recorded."""
    del sources_raw
    return tape.gradient(nest.flatten(target), list(sources), output_gradients, unconnected_gradients)
