"""The engine of eager execution, here or for a client elsewhere: finds an operation's kernel, calls it, and says what
went wrong in TensorFlow's terms.
"""

from __future__ import annotations

import copy
import functools
import itertools
import weakref
from collections import defaultdict, deque
from collections.abc import Hashable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from everflow.framework import errors
from everflow.framework.shapes import TensorShape
from everflow.kernels.registry import TypesError
from everflow.kernels.state import Buffer
from everflow.protos.attr_value_pb2 import NameAttrList
from everflow.runtime import threads
from everflow.runtime.executor import LocalExecutor
from everflow.runtime.plan import binding, failures
from everflow.runtime.plan.program import Node, facts_of, flat_results, kernel_attribute
from everflow.runtime.state import RandomStreams, ResourceStore, Step
from everflow.runtime.thread_orders import count_alone, count_for_small, is_large, is_product

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.hints import Attributes
    from everflow.framework.op_defs import OpDef
    from everflow.framework.operation import Operation, Tensor
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState

# No two calls of these are alike: each has a name or a value of its own.
_UNLIKE = frozenset(["VarHandleOp", "Const"])
_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
_MOST_KEPT = 20_000
_numbers = itertools.count()
_UNKNOWN = TensorShape(None)


class _Functions:
    """Stands for the graph whose functions a session's state looks up."""

    def __init__(self, functions: MutableMapping[str, Any]) -> None:
        self._functions = functions
        self.version = 0


def while_held() -> ResourceStore:
    """A store of objects that are gone when no handle refers to them: there is no session whose end would take them."""
    return ResourceStore(weakref.WeakValueDictionary)


class Engine:
    """Kernels bound to attributes, by op type, attributes and types of inputs; and the state they work on.

    A random operation's stream belongs to its binding, so calls with the same attributes go on with one stream, as in
    TensorFlow.
    """

    def __init__(
        self,
        device_names: list[str] | None = None,
        resources: ResourceStore | None = None,
        functions: MutableMapping[str, Any] | None = None,
    ) -> None:
        """`device_names` are those of a task in a cluster; `resources` what engines of that task share; `functions`
        where the functions are that operations call by name.
        """
        self._owner = _Functions({} if functions is None else functions)
        self._device_names, self._resources = device_names, resources
        self._bindings: dict[Hashable, BoundOperation] = {}
        # Name of a function → keys of what is kept of calls of it.
        self._keys: defaultdict[str, list[Hashable]] = defaultdict(list)
        # Names of functions that nobody can call any more. Python may notice at any moment, in any thread; what was
        # compiled for them goes when an operation runs next.
        self._gone: deque[str] = deque()
        # Kind of call (see `EagerGraph.call`) → what runs it.
        self.calls: dict[Hashable, BoundOperation] = {}
        # Python value and dtype → (kernel value, DType).
        self.constants: dict[Hashable, tuple[Value, DType]] = {}

    # Devices are settled when the first operation runs: a program may import this and divide them afterwards.
    @functools.cached_property
    def _executor(self) -> LocalExecutor:
        # Of a graph, functions are all that an executor asks for here.
        executor = LocalExecutor(self._owner, device_names=self._device_names)  # type: ignore[arg-type]
        executor.state.resources = self._resources or while_held()
        return executor

    @functools.cached_property
    def state(self) -> SessionState:
        return self._executor.state

    @functools.cached_property
    def _threads(self) -> int:
        return threads.allowed(self._executor.config)

    @property
    def functions(self) -> MutableMapping[str, Any]:
        """Name → function; graphs of all threads share it."""
        return self._owner._functions

    def follow(self, function: Any) -> None:
        """Forget what was compiled for a function when that is gone."""
        weakref.finalize(function, self._gone.append, function.name).atexit = False

    def forget(self, name: str) -> None:
        """A function is defined anew, or gone: what was compiled for that name goes."""
        for key in self._keys.pop(name, ()):
            self._bindings.pop(key, None)
            self.calls.pop(key, None)
        if "_executor" in vars(self):
            self._executor.functions().forget(name)

    def _forget_gone(self) -> None:
        while self._gone:
            name = self._gone.popleft()
            if name not in self.functions:
                self.forget(name)

    def _keep(self, kept: dict[Hashable, BoundOperation], key: Hashable, bound: BoundOperation) -> None:
        kept[key] = bound
        for name in bound.called:
            self._keys[name].append(key)
        _forget_oldest(kept)

    def restart(self) -> None:
        """Ask anew for devices and threads when the next operation runs; functions and objects that handles refer to stay."""
        if "_executor" in vars(self):
            self._resources = self.state.resources
        for settled in ("_executor", "state", "_threads"):
            vars(self).pop(settled, None)
        self._bindings.clear()
        self._keys.clear()
        self.calls.clear()
        self.constants.clear()

    def restart_random_streams(self) -> None:
        """Let random operations begin again, as setting the seed does."""
        self._bindings.clear()
        self.calls.clear()
        if "_executor" in vars(self):
            self.state.random = RandomStreams()
            self._executor.functions().restart_random_streams()

    def keep_constant(self, key: Hashable, tensor: Tensor) -> None:
        """Let later constants of this kind have the same memory."""
        self.constants[key] = (tensor._value, tensor._dtype)
        _forget_oldest(self.constants)

    def remember(self, key: Hashable, definition: OpDef, op: Operation, constants: Sequence[int] = ()) -> None:
        """Let later calls of this kind, with other input values, go to the kernel directly; those at `constants` are in
        the key.
        """
        if definition.name not in _UNLIKE:
            bound = self.bound(definition, op.attrs, op.inputs, [t._dtype for t in op.outputs])
            self._keep(self.calls, key, bound.with_constants(op.inputs, constants) if constants else bound)

    def bound(
        self,
        definition: OpDef,
        attrs: Attributes,
        inputs: Sequence[Operand],
        output_dtypes: Sequence[DType],
    ) -> BoundOperation:
        """The kernel of an operation, with its attributes."""
        if self._gone:
            self._forget_gone()
        key = (definition.name, *(t._dtype for t in inputs), *(frozen(v) for v in attrs.values()))
        try:
            found = None if definition.name in _UNLIKE else self._bindings.get(key)
        except TypeError:  # an attribute without a hash: functions and tensors
            return BoundOperation(self.state, definition, attrs, inputs, output_dtypes, self._threads)
        if found is None:
            found = BoundOperation(self.state, definition, attrs, inputs, output_dtypes, self._threads)
            if definition.name not in _UNLIKE:
                self._keep(self._bindings, key, found)
        return found


class Operand(Protocol):
    """What an operation runs on: a value of kernels and its type. Eager tensors are such."""

    _value: Value
    _dtype: DType


# Types that no device but the CPU has.
_CPU_ONLY = frozenset(["int16", "uint16", "uint32", "uint64", "bfloat16", "string", "resource", "variant"])


def _has_other_device(definition: OpDef, attrs: Attributes) -> bool:
    """Whether TensorFlow finds a device for an op that the CPU has no kernel for: its compiling device takes the types that
    the definition lists, and refuses the op later.
    """
    choices = [(attr.allowed or (), attrs[attr.name]) for attr in definition.attrs if attr.type == "type"]
    return all(value in allowed and value.name not in _CPU_ONLY for allowed, value in choices)


class BoundOperation:
    """An op type with attributes and types of inputs: takes values of inputs to values of outputs."""

    def __init__(
        self,
        state: SessionState,
        definition: OpDef,
        attrs: Attributes,
        inputs: Sequence[Operand],
        output_dtypes: Sequence[DType],
        most_threads: int,
    ) -> None:
        self.attrs = attrs
        self.dtypes = list(output_dtypes)
        # The functions that it calls, by name.
        self.called = [value.name for value in attrs.values() if isinstance(value, NameAttrList)]
        self.single = len(definition.outputs) == 1 and not definition.outputs[0].is_list
        # (position, value) of inputs that calls of this kind have in common.
        self.constants: list[tuple[int, Operand]] = []
        self._state = state
        self._type = definition.name
        self._reads_only = facts_of(definition.name).writes == () or not any(
            t._dtype.name == "resource" for t in inputs
        )
        self._plain = not any(argument.is_list for argument in definition.inputs)
        if definition.name in binding.PLACEHOLDERS:
            raise RuntimeError("tf.placeholder() has no use in eager execution: call a function with the value.")
        self._node = _node(definition, attrs, inputs, output_dtypes)
        try:
            bound = binding.bind(self._node, state)
        except TypesError as error:
            refusal = errors.InvalidArgumentError if _has_other_device(definition, attrs) else errors.NotFoundError
            raise refusal(None, None, error.message) from None
        if bound is None:
            raise binding.missing_kernel(self._node)
        self._function, self._keywords, self._takes_step = bound.function, bound.keywords, bound.takes_step
        self._most_threads = most_threads
        self._is_product, self._is_call = is_product(definition.name), definition.name in _CALLS
        # Small operands had large results (a shape's, a broadcast), or it runs functions: then sizes of operands tell nothing.
        self._makes_much = bool(self.called)

    def with_constants(self, inputs: Sequence[Operand], positions: Sequence[int]) -> BoundOperation:
        """The same where some of the inputs are always these."""
        made = copy.copy(self)
        made.constants = [(position, inputs[position]) for position in positions]
        return made

    def run(self, inputs: Sequence[Operand], step: Step | None = None) -> list[Value]:
        """The values of the outputs; cancelling `step` ends what waits."""
        values = [t._value for t in inputs]
        if not self._reads_only:
            for value in values:
                if isinstance(value, Buffer):
                    value.unshare()
        keywords = {**self._keywords, "step": step or Step(self._state)} if self._takes_step else self._keywords
        arguments = values if self._plain else binding.call_arguments(self._node, values)
        try:
            count = self._count(values)
            threads.take(count)
            result = self._function(*arguments, **keywords)
            if count == 1 and not self._makes_much:
                self._makes_much = any(map(is_large, result if isinstance(result, (list, tuple)) else (result,)))
            return [result] if self.single else flat_results(self._node, result)
        except Exception as error:
            raise _translated(error, self._type, values) from None

    def _count(self, values: list[Value]) -> int:
        """The threads to take: all, unless what is to be done is too small to be shared."""
        if self._is_call:
            count = count_alone(values, self._most_threads)
            if count == 1:
                count = self._keywords["session"].function(self._keywords["f"]).steady_count(self._most_threads)
            return count
        if self._is_product:
            return count_alone(values, self._most_threads)
        return self._most_threads if self._makes_much else count_for_small(values, self._most_threads)


def _node(definition: OpDef, attrs: Attributes, inputs: Sequence[Operand], output_dtypes: Sequence[DType]) -> Node:
    """The operation in the form that kernels are bound from; shapes are not known, since other values may have others."""
    number = next(_numbers)
    node = Node(number, None, f"{definition.name}_{number}", definition.name)
    node.definition = definition
    node.set_attributes({name: kernel_attribute(value) for name, value in attrs.items()})
    node.output_dtypes = list(output_dtypes)
    node.output_shapes = [_UNKNOWN] * len(output_dtypes)
    for tensor in inputs:
        source = Node(0, None, "", "_Eager")
        source.output_dtypes, source.output_shapes = [tensor._dtype], [_UNKNOWN]
        node.inputs.append((source, 0))
    return node


def _forget_oldest(known: dict[Hashable, Any]) -> None:
    """Keep a table of calls from growing without end, as calls with ever new attributes would have it."""
    if len(known) > _MOST_KEPT:
        for key in list(known)[: _MOST_KEPT // 2]:
            del known[key]


def frozen(value: Any) -> Hashable:
    """An attribute as it can be in a key: lists as tuples, names of functions as their bytes."""
    if isinstance(value, (list, tuple)):
        return tuple(map(frozen, value))
    return value.SerializeToString(deterministic=True) if isinstance(value, NameAttrList) else value


def _translated(error: Exception, op_type: str, values: list[Value]) -> Exception:
    """The error to raise for one that a kernel raised. There is no node to name, only the op type."""
    kind, message = failures.kind_and_message(error, values)
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    return kind(None, None, f"{message} [Op:{op_type}]")
