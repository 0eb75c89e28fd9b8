"""`tf.py_function`: a Python function on eager tensors as an op of a graph, with a gradient by tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from everflow.eager.graph import EagerGraph
from everflow.eager.tensor import EagerTensor
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient
from everflow.framework.scopes import control_dependencies, executing_eagerly, get_default_graph
from everflow.kernels.script import translated
from everflow.ops.functions import python as script
from everflow.ops.gradients.reverse import is_trainable
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.variables.variable import Variable

if TYPE_CHECKING:
    from everflow.framework.hints import TensorLike
    from everflow.framework.operation import Operation, Tensor
    from everflow.runtime.hints import Value

# The tape that listened to a call, what went in and what came out.
_TapedCall: TypeAlias = "tuple[GradientTape, list[EagerTensor], list[Tensor]]"


class _OnTape:
    """A Python function that takes and gives kernel values, and remembers the calls of a run for the gradient."""

    def __init__(self, function: Callable[..., Any], types: list[dtypes.DType]) -> None:
        self._function = function
        self._types = types
        self._latest: list[_TapedCall] = []

    def __call__(self, run: dict[Any, Any], *arguments: tuple[Value, dtypes.DType]) -> list[Value]:
        with EagerGraph().as_default():
            inputs = [EagerTensor(value, dtype.base_dtype) for value, dtype in arguments]
            with GradientTape(persistent=True) as tape:
                tape.watch([t for t in inputs if is_trainable(t)])
                outputs = _converted(self._function(*inputs), self._types)
            if self not in run:
                run[self] = self._latest = []
            run[self].append((tape, inputs, outputs))
            return [t._value for t in outputs]

    def calls(self, run: dict[Any, Any]) -> list[_TapedCall]:
        """What it was called with in a run; in the latest one where a derivative runs by itself, as that of a traced
        function does.
        """
        return run.get(self, self._latest)


class _Backward:
    """The gradient of such a function. A loop goes backwards through its calls, so the first gradient is that of the
    last call.
    """

    def __init__(self, forward: _OnTape) -> None:
        self._forward = forward

    def __call__(self, run: dict[Any, Any], *arguments: tuple[Value, dtypes.DType]) -> list[Value]:
        calls = self._forward.calls(run)
        turn = run[self] = run.get(self, 0) + 1
        if turn > len(calls):
            raise RuntimeError("The gradient of a py_function ran more often than the function itself")
        tape, inputs, outputs = calls[-turn]
        with EagerGraph().as_default():
            grads = [EagerTensor(value, dtype) for value, dtype in arguments]
            flowing = [(y, g) for y, g in zip(outputs, grads, strict=True) if is_trainable(y)]
            sources = [x for x in inputs if is_trainable(x)]
            found = tape.gradient([y for y, _ in flowing], sources, [g for _, g in flowing])
            # What the results don't depend on has a scalar zero, as in TensorFlow.
            return [
                convert_to_tensor(0 if g is None else g, x.dtype)._value for x, g in zip(sources, found, strict=True)
            ]


def _converted(returned: Any, types: Sequence[dtypes.DType]) -> list[Tensor]:
    values = (
        list(returned) if isinstance(returned, (list, tuple)) else [] if returned is None and not types else [returned]
    )
    if len(values) < len(types):
        raise ValueError(f"The function returns {len(values)} values, but {len(types)} are expected.")
    if values and not types:
        raise RuntimeError("The function returns a value, but none is expected.")
    converted = []
    for value, dtype in zip(values, types, strict=False):
        if isinstance(value, Variable):
            raise RuntimeError(
                "Attempting to return a variable: a py_function gives values, so return variable.value()"
            )
        try:
            converted.append(convert_to_tensor(value, dtype))
        except ValueError as error:
            raise TypeError(
                f"The function gives {value!r} where a tensor of {dtype.name} is expected: {error}"
            ) from None
    return converted


def py_function(func: Callable[..., Any], inp: Sequence[TensorLike], Tout: Any, name: str | None = None) -> Any:
    """An op that calls `func(*tensors)` with eager tensors when it runs; gradients flow through it.

    Args:
        func: The function of eager tensors.
        inp: A list of tensors.
        Tout: The type, or list of types, of what it returns.
        name: The name of the operation in the graph.

    Returns:
        A tensor, or list of tensors, of unknown shapes.

    Raises:
        TypeError: If what it returns has another type, when it runs.

    Example:
        >>> x = tf.constant(3.0)
        >>> y = tf.py_function(lambda t: t * t if t > 0 else t, [x], tf.float32)
        >>> sess.run([y, tf.gradients(y, x)[0]])
        [np.float32(9.0), np.float32(6.0)]
    """
    script.check_callable(func)
    several = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in (Tout if several else [Tout])]
    if executing_eagerly():
        arguments = [convert_to_tensor(x) for x in inp]
        try:
            result = _converted(func(*arguments), types)
        except Exception as error:
            raise translated(error) from error
        return result if several else result[0]
    called = _OnTape(func, types)
    token = script.register(called, types)
    result = raw.EagerPyFunc(input=inp, token=token, Tout=types, name=name)
    return result if several else result[0]


@gradient("EagerPyFunc")
def _py_function_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    called = script.registered(op.attrs["token"]).function
    types = [t.dtype.base_dtype for t in op.inputs if is_trainable(t)]
    token = script.register(_Backward(called), types)
    # A traced function's derivative is a graph of its own, which runs after it.
    with control_dependencies([op] if op.graph is get_default_graph() else []):
        found = iter(raw.EagerPyFunc(input=list(grads), token=token, Tout=types))
    return [next(found) if is_trainable(t) else None for t in op.inputs]
