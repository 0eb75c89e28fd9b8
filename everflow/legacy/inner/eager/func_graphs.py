"""Names that programs take from inside TensorFlow's `framework.func_graph` and `eager.lift_to_graph`: a Python function
drawn as a body, and parts of graphs drawn again in others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import FuncGraph as AnyFuncGraph
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops import array
from everflow.ops.autograph.conversion import converted
from everflow.ops.autograph.features import asked_for
from everflow.ops.functions.argument_specs import UnknownArgument
from everflow.ops.functions.bodies import _MOST_KNOWN as _EAGER_CONST_THRESHOLD
from everflow.ops.functions.bodies import SHARED, BodyGraph, returned
from everflow.ops.functions.initial_values import UnliftableError

__all__ = [
    "_EAGER_CONST_THRESHOLD",
    "WHITELIST_COLLECTIONS",
    "_create_substitute_placeholder",
    "_get_defun_inputs_from_args",
    "FuncGraph",
    "UnknownArgument",
    "UnliftableError",
    "check_mutation",
    "convert_structure_to_signature",
    "device_stack_has_callable",
    "dismantle_func_graph",
    "func_graph_from_py_func",
    "lift_to_graph",
    "maybe_captured",
]

# Collections that a body shares with the graph around it.
WHITELIST_COLLECTIONS = list(SHARED)


class _AnyBody(type):
    """Any body of a traced function, a branch or a loop is an instance of a class of this kind."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, BodyGraph)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, BodyGraph)


class FuncGraph(BodyGraph, metaclass=_AnyBody):
    """A body that a program draws by hand: what it uses of the graph around joins its inputs at once.

    Args:
        name: The body's name.
        collections: Its collections, instead of those of the graph around.
        capture_by_value: Whether what it reads of variables of the graph around is read there.
    """

    def __init__(
        self, name: str, collections: dict[Any, list] | None = None, capture_by_value: bool | None = None
    ) -> None:
        super().__init__(name, get_default_graph())
        if collections is not None:
            self._collections = collections
        self._capture_by_value = capture_by_value

    def capture(
        self, tensor: Tensor, name: str | None = None, shape: Any = None, consumer: str | None = None
    ) -> Tensor:
        """What a tensor of the graph around is in this body.

        Args:
            tensor: The tensor; one of this body is itself.
            name: How its stand-in is to be called.
            shape: A shape for the stand-in, where it isn't to have the tensor's.
            consumer: The name of the op that asks.

        Returns:
            A tensor of this body.
        """
        known = len(self._captures)
        stand_in = super().capture(tensor, consumer, name)
        if len(self._captures) > known and stand_in.op.type == "Placeholder":
            self.inputs.append(stand_in)
            if shape is not None:
                stand_in._shape = TensorShape(shape)
        return stand_in


def check_mutation(n1: Any, n2: Any) -> None:
    """ValueError where two nests, the arguments before and after a function ran, aren't the same."""
    nest.assert_same_structure(n1, n2, expand_composites=True)
    pairs = zip(nest.flatten(n1, expand_composites=True), nest.flatten(n2, expand_composites=True), strict=True)
    if any(one is not other for one, other in pairs):
        raise ValueError(f"The function changes its arguments: {n1} were {n2} before")


def convert_structure_to_signature(structure: Any, arg_names: Sequence[str] | None = None) -> Any:
    """A nest with specs for tensors. Plain values stay; what is none of both is an `UnknownArgument`."""

    def spec(path: tuple, value: Any) -> Any:
        if not isinstance(value, (Tensor, TensorSpec)):
            if isinstance(value, (int, float, bool, type(None), TypeSpec)):
                return value
            return getattr(value, "_type_spec", None) or UnknownArgument()
        named = (arg_names[path[0]], *path[1:]) if arg_names else path
        name = value.name if isinstance(value, TensorSpec) and value.name else "/".join(map(str, named))
        return TensorSpec(value.shape, value.dtype.base_dtype, name)

    return nest.map_structure_with_tuple_paths(spec, structure)


def device_stack_has_callable(device_stack: Any) -> bool:
    """Whether a device was given as a function."""
    return any(callable(getattr(entry, "request", entry)) for entry in _entries(device_stack))


def _entries(device_stack: Any) -> Iterable[Any]:
    return device_stack.peek_objs() if hasattr(device_stack, "peek_objs") else device_stack


def maybe_captured(tensor: Tensor) -> Tensor:
    """What a tensor stands for that a body took of the graph around; any other tensor itself."""
    if not tensor.is_eager and isinstance(tensor.graph, AnyFuncGraph):
        for outside, inside in tensor.graph.captures:
            if inside is tensor:
                return maybe_captured(outside)
    return tensor


def dismantle_func_graph(func_graph: FuncGraph) -> None:
    """Let go of what a body uses of the graph around, so that it isn't kept any longer."""
    func_graph.clear_captures()


def func_graph_from_py_func(
    name: str,
    python_func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    signature: Any = None,
    func_graph: BodyGraph | None = None,
    autograph: bool = False,
    autograph_options: Any = None,
    add_control_dependencies: bool = True,
    arg_names: Sequence[str] | None = None,
    op_return_value: Tensor | None = None,
    collections: dict[Any, list] | None = None,
    capture_by_value: bool | None = None,
    override_flat_arg_shapes: Sequence[Any] | None = None,
) -> BodyGraph:
    """The body that a Python function draws, with placeholders for the tensors and specs among its arguments.

    Args:
        name: The body's name.
        python_func: The function.
        args: What it takes by position: tensors, specs, or anything else, which it gets as it is.
        kwargs: What it takes by name.
        signature: Specs that stand in place of `args` and `kwargs`.
        func_graph: A body to draw in, instead of a new one.
        autograph: Whether `if`, `while` and `for` over tensors become parts of it.
        autograph_options: Further features of that conversion.
        add_control_dependencies: Whether ops with state run in the order in which they are made.
        arg_names: Names for the placeholders of `args`.
        op_return_value: What stands for an operation among the results; without it that is None.
        collections: The body's collections, instead of those of the graph around.
        capture_by_value: Whether tensors of the graph around are drawn again inside.
        override_flat_arg_shapes: A shape or None for each flat argument.

    Returns:
        The body; its `inputs`, `outputs`, `structured_outputs` and `structured_input_signature` are set.
    """
    if signature is not None:
        args, kwargs = signature, {}
    graph = func_graph if func_graph is not None else FuncGraph(name, collections, capture_by_value)
    shapes = iter(override_flat_arg_shapes or [None] * len(nest.flatten((args, kwargs), expand_composites=True)))
    with graph.as_default():
        inside = [
            _with_placeholders(graph, arg, (arg_names[index] if arg_names else None), shapes)
            for index, arg in enumerate(args)
        ]
        named = {key: _with_placeholders(graph, kwargs[key], key, shapes) for key in sorted(kwargs)}
        function = converted(python_func, features=asked_for(autograph_options)) if autograph else python_func
        before = nest.pack_sequence_as(inside, nest.flatten(inside))
        result = function(*inside, **named)
        check_mutation(before, inside)
        flat = [
            op_return_value if isinstance(x, Operation) else x for x in nest.flatten(result, expand_composites=True)
        ]
        tensors = [graph.capture(convert_to_tensor(x)) for x in flat if x is not None]
        graph.outputs = returned(graph, tensors) if add_control_dependencies else tensors
    held = iter(graph.outputs)
    packed = [None if x is None else next(held) for x in flat]
    graph.structured_outputs = nest.pack_sequence_as(result, packed, expand_composites=True)
    graph.structured_input_signature = nest.map_structure_with_tuple_paths(_spec_at, (args, dict(kwargs)))
    further = [*graph._captures.values(), *(t for each in graph.deferred for t in each.inside)]
    graph.inputs = list(dict.fromkeys([*graph.inputs, *further]))
    return graph


def _with_placeholders(graph: BodyGraph, value: Any, name: str | None, shapes: Iterable[Any]) -> Any:
    """An argument as the body gets it."""
    inside = []
    for part in nest.flatten(value, expand_composites=True):
        shape = next(iter(shapes))
        if not isinstance(part, (Tensor, TypeSpec)):
            inside.append(part)
            continue
        given = (part.name if isinstance(part, TensorSpec) else None) or name or "placeholder"
        inside.append(graph.add_input(part.dtype.base_dtype, given, part.shape if shape is None else shape))
        inside[-1]._handle_data = getattr(part, "_handle_data", None)
        if name is not None:
            inside[-1].op._set_attr("_user_specified_name", given.encode())
    return nest.pack_sequence_as(value, inside, expand_composites=True)


def _spec_at(path: tuple, value: Any) -> Any:
    if not isinstance(value, (Tensor, TensorSpec)):
        return getattr(value, "_type_spec", value)
    return TensorSpec(TensorShape(value.shape), value.dtype.base_dtype, "/".join(str(p) for p in path[1:]))


def _create_substitute_placeholder(value: Tensor, name: str | None = None, dtype: Any = None) -> Tensor:
    """A placeholder of the default graph that stands for a tensor."""
    made = array.placeholder(dtype or value.dtype, value.shape, name)
    made._handle_data = value._handle_data
    return made


def _get_defun_inputs_from_args(args: Sequence[Any], names: Sequence[str], flat_shapes: Any = None) -> tuple[Any, ...]:
    """Arguments with placeholders of the default graph for the tensors in them, which have the arguments' names."""
    shapes = iter(flat_shapes or [None] * len(nest.flatten(args, expand_composites=True)))

    def inside(part: Any, name: str) -> Any:
        shape = next(shapes)
        if not isinstance(part, (Tensor, TensorSpec)):
            return part
        made = array.placeholder(part.dtype.base_dtype, part.shape if shape is None else shape, name)
        made.op._set_attr("_user_specified_name", name.encode())
        return made

    return tuple(
        nest.pack_sequence_as(arg, [inside(part, name) for part in nest.flatten(arg, True)], True)
        for arg, name in zip(args, names, strict=True)
    )


def lift_to_graph(
    tensors: Iterable[Tensor | Operation],
    graph: Graph,
    sources: Iterable[Tensor] | None = None,
    disallowed_placeholders: Iterable[Operation] | None = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Graph | None = None,
    op_map: dict | None = None,
) -> dict:
    """What makes some tensors, drawn again in another graph.

    Args:
        tensors: The tensors or operations, all of one graph.
        graph: Where they are drawn.
        sources: Tensors at which to stop; `op_map` says what stands for them, or they are drawn too.
        disallowed_placeholders: Placeholders that nothing may depend on.
        add_sources: Whether placeholders are drawn as well.
        handle_captures: Whether what a body took of the graph around is taken by the new one, too.
        base_graph: The graph of the tensors.
        op_map: What stands for operations and tensors already; it is added to.

    Returns:
        A dictionary from operations and tensors to those that stand for them.

    Raises:
        UnliftableError: If something depends on a placeholder that isn't among the sources.
    """
    wanted = list(tensors)
    base = base_graph if base_graph is not None else wanted[0].graph
    made = {} if op_map is None else op_map
    stops = set(sources or ())
    taken = {inside: outer for outer, inside in base._captures.items()} if isinstance(base, AnyFuncGraph) else {}
    forbidden = set(disallowed_placeholders or ())
    for op in _ops_behind(wanted, made, stops):
        if op.type == "Placeholder":
            tensor = op.outputs[0]
            if op in forbidden or not (tensor in stops or add_sources or (handle_captures and tensor in taken)):
                raise UnliftableError(
                    f"{[x.name for x in wanted]} can't be drawn elsewhere: they depend on {op.name!r}"
                )
            if handle_captures and tensor in taken and isinstance(graph, AnyFuncGraph):
                made[tensor] = graph.capture(taken[tensor])
                made[op] = made[tensor].op
                continue
        with graph.as_default(), graph.control_dependencies(None):
            inputs = [made[t] for t in op.inputs]
            with graph.control_dependencies([made[c] for c in op.control_inputs if c in made]):
                made[op] = graph.add_op(op.definition, inputs, [t.dtype for t in op.outputs], dict(op.attrs), op.name)
        for mine, theirs in zip(op.outputs, made[op].outputs, strict=True):
            theirs._handle_data = mine._handle_data
            made[mine] = theirs
    return made


def _ops_behind(wanted: Iterable[Tensor | Operation], made: Mapping, stops: set[Tensor]) -> list[Operation]:
    """The operations that make what is wanted, as far as that isn't made already, in the order in which they were made."""
    found, waiting = set(), [x if isinstance(x, Operation) else x.op for x in wanted if x not in made]
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        found.add(op)
        if any(t in stops for t in op.outputs):
            continue
        waiting += [t.op for t in op.inputs if t not in made]
        waiting += [c for c in op.control_inputs if c not in made]
    return sorted(found, key=lambda op: op._id)
