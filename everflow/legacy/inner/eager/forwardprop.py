"""TensorFlow's `python.eager.forwardprop`: derivatives in the direction of a tangent, computed along with the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework import tapes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.legacy.inner.eager.backprop import _MockOp
from everflow.ops import array
from everflow.ops.gradients.reverse import is_trainable
from everflow.ops.gradients.tape import GradientTape, _input_gradients, source_of


class ForwardGradientAccumulator:
    """Computes Jacobian-vector products while operations run.

    An operation's gradient function takes gradients `g` of its outputs to `Jᵀg`, which is linear in `g`: the derivative
    of that by `g`, in the direction of the inputs' tangents, is the tangent `Jt` of the outputs.

    >>> tf.enable_eager_execution()
    >>> x = tf.constant(3.0)
    >>> with ForwardGradientAccumulator() as accumulator:
    ...     accumulator.watch(x, tf.constant(1.0))
    ...     y = x * x
    >>> accumulator.jvp(y).numpy()
    np.float32(6.0)
    """

    def __init__(self) -> None:
        # By identity; the tensors are held, so that no other gets the same.
        self._tangents: dict[int, tuple[Tensor, Tensor]] = {}
        self._listening = False

    def __enter__(self) -> ForwardGradientAccumulator:
        self._push_accumulator()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._listening:
            self._pop_accumulator()

    def _push_accumulator(self) -> None:
        if self._listening:
            raise ValueError("This accumulator is recording already: a second `with` of it makes no sense.")
        self._listening = True
        tapes.push(self)  # type: ignore[arg-type]

    def _pop_accumulator(self) -> None:
        if not self._listening:
            raise ValueError("This accumulator isn't recording.")
        tapes.remove(self)  # type: ignore[arg-type]
        self._listening = False

    def watch(self, tensor: Any, tangents: Any) -> None:
        """Give a tensor, or a variable, a tangent; a second one is added to the first."""
        if not self._listening:
            raise ValueError("A tangent is given inside of the `with`: the accumulator isn't recording.")
        source = source_of(tensor)
        tangent = convert_to_tensor(tangents)
        if tangent.dtype != tensor.dtype.base_dtype:
            raise ValueError(
                f"The tangent of a tensor of {tensor.dtype.name} is of that type, too, not {tangent.dtype.name}"
            )
        before = self._tangents.get(id(source))
        self._tangents[id(source)] = (source, tangent if before is None else before[1] + tangent)

    def jvp(self, target: Any) -> Tensor | None:
        """The tangent of what was made from watched tensors, None for what wasn't."""
        found = self._tangents.get(id(source_of(target)))
        return None if found is None else found[1]

    # What a tape is asked while it listens.

    def watches(self, tensor: Tensor) -> bool:
        """Whether a tensor has a tangent."""
        return id(tensor) in self._tangents

    def variable_accessed(self, variable: Any) -> None:
        """Variables have no tangent but by `watch`."""

    def record(self, op: Any) -> None:
        """Find the tangents of an operation's outputs."""
        given = [self._tangents.get(id(tensor), (None, None))[1] for tensor in op.inputs]
        outputs = [tensor for tensor in op.outputs if is_trainable(tensor)]
        if not outputs or all(tangent is None for tangent in given):
            return
        tapes.remove(self)  # type: ignore[arg-type]
        try:
            for tensor, tangent in zip(outputs, _pushed(op, given), strict=True):
                if tangent is not None:
                    self._tangents[id(tensor)] = (tensor, tangent)
        finally:
            tapes.push(self)  # type: ignore[arg-type]


def _pushed(op: Any, given: list[Tensor | None]) -> list[Tensor | None]:
    """The tangents of those outputs of an operation that can have one, from its inputs' tangents."""
    with GradientTape(watch_accessed_variables=False) as tape:
        seeds = [array.zeros_like(tensor) if is_trainable(tensor) else None for tensor in op.outputs]
        varied = [seed for seed in seeds if seed is not None]
        tape.watch(varied)
        pulled = _input_gradients(op, seeds)
    pairs = [(g, t) for g, t in zip(pulled, given, strict=True) if g is not None and t is not None]
    if not pairs:
        return [None] * len(varied)
    gradients, directions = (list(part) for part in zip(*pairs, strict=True))
    return tape.gradient([convert_to_tensor(g) for g in gradients], varied, output_gradients=directions)


def _forward_gradient(
    op_name: str, attr_tuple: Sequence[Any], inputs: list[Tensor], outputs: list[Tensor], tangents: list[Tensor | None]
) -> list[Tensor | None]:
    """The tangents of an op's outputs, given its type, its attributes (names and values in turn), inputs and outputs, and
    the tangents of its inputs.
    """
    return _pushed(_MockOp(attr_tuple, inputs, outputs, op_name), tangents)
