"""`EagerGraph`: stands where a graph stands, but runs each operation at once instead of keeping it.

Everything that draws graphs (build functions, gradients, layers, optimizers) so works on values as well: they call
`add_op` of the default graph, and here get back an operation whose outputs have values.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from everflow.eager.places import HERE, PLACES
from everflow.eager.tensor import EagerTensor
from everflow.framework import op_callbacks, op_defs, tapes
from everflow.framework.builder import structured, structured_outputs
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph import Graph, without_slash
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor, _InputList
from everflow.framework.tensor_values import TensorValue
from everflow.kernels import tensors
from everflow.runtime.engine import Engine, frozen
from everflow.runtime.process_options import PROCESS
from everflow.runtime.profiling import RECORDER

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import (
        Attributes,
        DeviceRequest,
        DTypeLike,
        Element,
        FeedDict,
        GraphFunctionLike,
        SessionLike,
    )
    from everflow.framework.op_defs import OpDef

# A function lives while something does that can call it: a trace, a body with a call in it, a dataset.
_ENGINE = Engine(functions=weakref.WeakValueDictionary())
# Called after each operation: (op type, inputs, attributes, outputs, name).
execution_callbacks: list[Callable[..., None]] = []
_COLLECTIONS_OF_GRAPHS = {key for name, key in vars(GraphKeys).items() if name.isupper()} - {
    GraphKeys.GLOBAL_STEP,
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.REGULARIZATION_LOSSES,
}


def restart() -> None:
    """Ask anew which devices and threads there are, when the next operation runs."""
    PLACES.divided = False
    _ENGINE.restart()


def _small_key(value: Any) -> tuple[Any, ...] | None:
    """What tells a small Python value from others, zeros of either sign included; None for larger ones."""
    kind = type(value)
    if kind is int or kind is bool or kind is str:
        return kind, value
    if kind is float:
        return kind, value or repr(value)
    if kind is np.ndarray:
        return (value.dtype.str, value.shape, value.tobytes()) if value.size <= 8 and value.dtype.kind in "iu" else None
    if (kind is list or kind is tuple) and len(value) <= 8:
        first = type(value[0]) if value else None
        if all(type(v) is first for v in value):
            if first is int or first is None:
                return list, first, tuple(value)
            if first is float:
                return list, first, tuple([v or repr(v) for v in value])
    return None


def _kind_of_call(
    definition: OpDef,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[tuple[Any, ...] | None, list[Any]]:
    """(a key that calls share which differ only in the values of their input tensors, those tensors, and None for each
    input that the key has the Python value of); a key of None for other calls.
    """
    key: list[Any] = [definition.name]
    inputs: list[Any] = []
    names = definition.inputs
    given = len(args)
    for position, argument in enumerate(names):
        value = args[position] if position < given else kwargs.get(argument.name)
        if type(value) is not EagerTensor and hasattr(value, "_read_variable_op"):
            value = convert_to_tensor(value)
        if type(value) is EagerTensor:
            key.append(value._dtype)
            inputs.append(value)
        elif not argument.is_list:
            small = _small_key(value)
            if small is None:
                return None, inputs
            key.append(small)
            inputs.append(None)
        elif isinstance(value, (list, tuple)) and all(type(v) is EagerTensor for v in value):
            key.append(tuple([v._dtype for v in value]))
            inputs += value
        else:
            return None, inputs
    if given > len(names):
        for value in args[len(names) :]:
            key.append((type(value), value))
    if kwargs:
        by_name = {a.name for a in names[given:]} if given < len(names) else ()
        for name, value in kwargs.items():
            if name not in by_name:
                key.append((name, type(value), frozen(value)))
    kind = tuple(key)
    try:
        hash(kind)
    except TypeError:
        return None, inputs
    return kind, inputs


def _any_symbolic(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a tensor without a value is among the arguments."""
    values = [*args, *kwargs.values()]
    values += [item for value in values if isinstance(value, (list, tuple)) for item in value]
    return any(isinstance(value, Tensor) and not value.is_eager for value in values)


class EagerOperation(Operation):
    """An operation that ran: what gradient functions look at."""

    def __init__(self, graph: Graph, definition: OpDef, inputs: Sequence[Tensor], attrs: Attributes, name: str) -> None:
        self._graph = graph
        self._type = definition.name
        self._name = name
        self._inputs = _InputList(inputs)
        self.attrs = attrs
        self._op_def = definition
        self._control_inputs = []
        self._control_outputs = []
        self._device = ""
        self._frames = []
        self._control_flow_context = None
        self._gradient_function = graph._gradient_function_map.get(definition.name)
        self._original_op = None
        self._id = -1
        self.outputs = []

    def run(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> NoReturn:
        raise NotImplementedError("Executing eagerly there is nothing to run: the operation has run when it was made.")


def _draw(
    graph: Graph,
    definition: OpDef,
    inputs: Sequence[Tensor],
    dtypes: Sequence[DType],
    attrs: Attributes,
    name: str,
) -> Operation:
    """Add an operation on tensors of a graph to it; values among the inputs become constants there, so that shapes are
    known.
    """

    def inside(tensor: Tensor) -> Tensor:
        if not tensor.is_eager or tensor.dtype.base_dtype.name in ("resource", "variant"):
            return tensor
        value = TensorValue(array=np.asarray(tensor.numpy()), dtype=tensor.dtype)
        return graph.add_op(
            op_defs.get("Const"), [], [tensor.dtype], {"dtype": tensor.dtype, "value": value}, f"{name}/Const"
        ).outputs[0]

    with graph.as_default():
        return graph.add_op(definition, [inside(t) for t in inputs], dtypes, attrs, name)


class _Seeds:
    """The seed of all that is executed eagerly, in whichever thread, and where operations without one have theirs from."""

    def __init__(self) -> None:
        self.set(None)

    def set(self, seed: int | None) -> None:
        self.seed = seed
        self.numbers = random.Random(seed)


_SEEDS = _Seeds()


class EagerGraph(Graph):
    """The default "graph" of a thread while executing eagerly; all share one engine, and so variables and functions."""

    executes = True
    # Branches and loops run as Python's own; see `ops.control_flow`.
    draws_functions = False

    def __init__(self, beside: Graph | None = None) -> None:
        super().__init__()
        self._functions = _ENGINE.functions  # type: ignore[assignment]  # used as a dict is
        # By `tf.device`: a device of another task, or one of this task that is not its first.
        self._requested = self._local = HERE
        # What a program sees as the default graph: the one before, or else one without operations.
        self.beside = Graph() if beside is None else beside
        self._collections = self.beside._collections

    # --- running -----------------------------------------------------------------------------

    def add_op(
        self,
        definition: OpDef,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType],
        attrs: Attributes,
        name: str,
        compute_device: bool = True,
    ) -> Operation:
        """Run an operation; its outputs have values."""
        for tensor in inputs:
            if not tensor.is_eager:
                if getattr(tensor.graph, "takes_eager_ops", False):
                    return _draw(tensor.graph, definition, inputs, dtypes, attrs, without_slash(name))
                raise TypeError(
                    f"An op outside of the function building code is being passed a symbolic tensor: {tensor}. It has no value here, "
                    "since it is of a graph; run that graph in a tf.Session, or use tf.function."
                )
        op = EagerOperation(self, definition, inputs, attrs, without_slash(name))
        if definition.name in self._gradient_override_map:
            op.attrs = {**attrs, "_gradient_op_type": self._gradient_override_map[definition.name].encode()}
        place = PLACES.of(self._requested, inputs) if PLACES.connection is not None else self._requested
        if place:
            op._device = place
            op.outputs = PLACES.run(place, definition, inputs, attrs, dtypes, self._functions)
        else:
            if definition.name == "Const":
                values = [tensors.from_numpy(attrs["value"].array)]
            else:
                began = time.time_ns()
                values = _ENGINE.bound(definition, attrs, inputs, dtypes).run(inputs)
                if RECORDER.running:
                    RECORDER.record(op.name, definition.name, began, time.time_ns())
            op.outputs = [EagerTensor(value, dtype) for value, dtype in zip(values, dtypes, strict=True)]
            if PLACES.divided:
                op._device = PLACES.within(self._local, definition.name, inputs)
                for tensor in op.outputs:
                    tensor._place = op._device  # type: ignore[attr-defined]  # all are eager
        if definition.name == "VarHandleOp":
            op.outputs[0]._handle_data = [(attrs["dtype"], attrs["shape"])]
        if inputs and tapes.active():
            tapes.record(op)
        if (execution_callbacks or op_callbacks.listening.callbacks) and definition.name != "Const":
            self._tell(op, None if name == op.type else name)
        return op

    def _tell(self, op: Operation, name: str | None) -> None:
        """Tell callbacks of an operation that has run; it is too late to put anything in place of its outputs."""
        told = op.type, tuple(op.inputs), tuple(itertools.chain(*op.attrs.items())), op.outputs, name
        op_callbacks.invoke_op_callbacks(*told)
        for callback in tuple(execution_callbacks):
            callback(*told)

    def call(
        self,
        definition: OpDef,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        make: Callable[..., Operation],
        name: str | None = None,
    ) -> Any:
        """The result of a build function. A call like an earlier one goes to its kernel directly; `make` makes the
        operation of others.
        """
        if self._requested or PLACES.divided:
            return structured_outputs(definition, make(args, None, kwargs))
        key, inputs = _kind_of_call(definition, args, kwargs)
        known = _ENGINE.calls.get(key) if key is not None else None
        if (
            known is None
            or self._gradient_override_map
            or self._gradient_function_map
            or execution_callbacks
            or op_callbacks.listening.callbacks
            or RECORDER.running
        ):
            # Only what is drawn in a graph after all keeps its name.
            op = make(args, name if key is None and _any_symbolic(args, kwargs) else None, kwargs)
            if key is not None:
                _ENGINE.remember(key, definition, op, [i for i, tensor in enumerate(inputs) if tensor is None])
            return structured_outputs(definition, op)
        for position, constant in known.constants:
            inputs[position] = constant
        values = known.run(inputs)
        outputs: list[Tensor] = [EagerTensor(value, dtype) for value, dtype in zip(values, known.dtypes)]
        if tapes.active() and tapes.watch_any(inputs):
            op = EagerOperation(self, definition, inputs, known.attrs, definition.name)
            op.outputs = outputs
            tapes.record(op)
        if known.single:
            return outputs[0]
        return structured(definition, known.attrs, outputs) if definition.outputs else None

    def constant(self, value: Any, dtype: DTypeLike | None, make: Callable[[], EagerTensor]) -> EagerTensor:
        """The tensor that `make()` makes of a Python value. Small ones come again and again, so their arrays are kept."""
        if self._requested or self._local:
            return make()
        small = _small_key(value)
        if small is None:
            return make()
        key = small, dtype
        known = _ENGINE.constants.get(key)
        if known is not None:
            return EagerTensor(*known)
        tensor = make()
        PROCESS.in_use = True
        _ENGINE.keep_constant(key, tensor)
        return tensor

    def _learn_function(self, function: GraphFunctionLike) -> None:
        """Let operations call a function; the one that they knew by its name may be gone at any moment."""
        if self._functions.get(function.name) is not function:
            self._add_function(function)

    def _add_function(self, function: GraphFunctionLike) -> None:
        _ENGINE.forget(function.name)
        super()._add_function(function)
        _ENGINE.follow(function)

    # --- names and scopes mean little here -----------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name in the current scope: nothing is kept, so nothing is taken."""
        return f"{self._name_stack}/{name}" if self._name_stack else name

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:  # type: ignore[override]  # text only, as in TensorFlow
        """A context that puts `name/` before the names of variables made in it."""
        old = self._name_stack
        try:
            yield self.enter_scope(name)
        finally:
            self._name_stack = old

    def enter_scope(self, name: str | None) -> str:
        """Open a name scope; whoever does so puts `_name_stack` back."""
        if not name:
            self._name_stack = ""
            return ""
        if not isinstance(name, str):
            raise TypeError(f"The name of a scope must be text, not {name!r}")
        self._name_stack = scope = without_slash(name) if name[-1] == "/" else self.unique_name(name)
        return scope + "/"

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
        """Nothing to wait for: what was made before has run. A callable among them is called, as TensorFlow does."""
        for item in control_inputs or ():
            if callable(item) and not hasattr(item, "handle"):
                item()
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def device(self, device_name_or_function: DeviceRequest) -> Iterator[None]:
        """A context whose operations run on this device, which may be another task's."""
        before = self._requested, self._local
        with super().device(device_name_or_function):
            self._requested, self._local = PLACES.requested(self._device_stack)
            try:
                yield
            finally:
                self._requested, self._local = before

    def colocate_with(  # type: ignore[override]  # a context that may do nothing
        self, op: Any, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """A context whose operations run where a variable or tensor is."""
        there = getattr(getattr(op, "handle", op), "device", None)
        return (
            self.device(there)
            if there and (PLACES.connection is not None or PLACES.divided)
            else contextlib.nullcontext()
        )

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Nothing to prevent: no session feeds what has run already."""

    def prevent_fetching(self, op: Element) -> None:
        """Nothing to prevent: what an op gives is there at once."""

    # --- collections: a program's own, and those of variables -----------------------------------

    def add_to_collection(self, name: Hashable, value: Any) -> None:
        """Append to a collection. Of those that graphs fill by themselves only those of variables and their
        regularization are kept, for stores and templates of variables.
        """
        if name not in _COLLECTIONS_OF_GRAPHS:
            super().add_to_collection(name, value)

    # --- random numbers ------------------------------------------------------------------------

    @property
    def seed(self) -> int | None:
        return _SEEDS.seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        _SEEDS.set(seed)
        _ENGINE.restart_random_streams()

    def next_op_seed(self) -> int:
        """The op-level seed of an operation that was given none."""
        return _SEEDS.numbers.randint(0, 2**31 - 1)
