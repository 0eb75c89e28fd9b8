"""One trace of a `tf.function`: its body, the names of its arguments, and calls of it."""

from __future__ import annotations

from collections import Counter

from everflow.framework import attributes as attribute_values
from everflow.framework import dtypes, nest, tapes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import control_dependencies, executing_eagerly, get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops.functions.argument_specs import described
from everflow.ops.functions.bodies import BodyGraph, define, finished, unique_name
from everflow.ops.functions.gradients import add_gradient_functions, call
from everflow.ops.tensor_arrays.flows import flow_of
from everflow.ops.variables.resource import is_resource_variable


class ConcreteFunction:
    """One trace of a function: called with tensors, it adds a node that calls the function."""

    # Captures whose values are made at each call.
    _deferred = ()

    def __init__(self, graph, result, argument_names, arguments, flat_arguments, attributes=None):
        self.graph = graph
        flat = nest.flatten(result, expand_composites=True)
        # Datasets and optionals are passed as the tensors that stand for them, and made of these again at each call.
        self._variants = [x._type_spec if hasattr(x, "_variant_tensor") else None for x in flat]
        flat = [x if spec is None else x._variant_tensor for x, spec in zip(flat, self._variants)]
        tensors = [convert_to_tensor(flow_of(x)) for x in flat if x is not None and not isinstance(x, Operation)]
        outputs = finished(graph, tensors)
        if not graph.orders_state:
            graph.control_outputs = [x for x in flat if isinstance(x, Operation)]
        held = iter(outputs)
        packed = [None if x is None or isinstance(x, Operation) else next(held) for x in flat]
        self.structured_outputs = nest.pack_sequence_as(result, packed, expand_composites=True)
        graph.forget_variable_inputs()
        graph.inputs = [*graph.inputs, *graph._captures.values(), *(t for each in graph.deferred for t in each.inside)]
        graph.outputs = outputs
        graph.structured_outputs = self.structured_outputs
        self._captured = list(graph._captures)
        self._deferred = graph.deferred
        self._given_names = argument_names
        self._argument_names = _numbered(argument_names)
        self._signature = self._signature_of(arguments, flat_arguments)
        self._num_positional_args = len(self._argument_names)  # how many of them calls may give without a name
        self._function = define(
            graph.body(graph.inputs, outputs),
            unique_name(f"__inference_{graph.name}"),
            graph.outer_graph,
            argument_names=argument_names,
        )
        for key, value in (attributes or {}).items():
            self._function.definition.attr[key].CopyFrom(_attribute(key, value))

    @property
    def name(self):
        return self._function.name.encode()

    _func_graph = property(lambda self: self.graph)
    _arg_keywords = property(lambda self: self._argument_names, doc="The arguments' names as calls give them.")

    @property
    def inputs(self):
        """The body's inputs: arguments, then what it uses of the graph around."""
        return self.graph.inputs

    outputs = property(lambda self: self.graph.outputs, doc="The body's results, as a flat list.")

    function_def = property(lambda self: self._function.definition, doc="The FunctionDef that graphs keep of it.")

    @property
    def captured_inputs(self):
        """Tensors of the graph around that the body uses; they are passed along with each call."""
        return [*self._captured, *(t for each in self._deferred for t in each.values())]

    _captured_inputs = property(lambda self: self.captured_inputs)
    _output_shapes = property(lambda self: tuple(t.shape for t in self.graph.outputs))

    @property
    def variables(self):
        """Variables that the body uses."""
        handles = set(self._captured)
        known = [*self.graph.outer_graph.get_collection("variables"), *self.graph.accessed.values()]
        by_handle = {v.handle: v for v in reversed(known) if hasattr(v, "handle")}
        return [v for handle, v in reversed(by_handle.items()) if handle in handles]

    @property
    def trainable_variables(self):
        return [v for v in self.variables if v.trainable]

    @property
    def structured_input_signature(self):
        """(args, kwargs) with a TypeSpec for each tensor; it has the argument's name, and the way to it from there."""
        return self._signature

    def _signature_of(self, arguments, flat_arguments):
        """What the trace is for. It holds none of the arguments, so that they live no longer than their owners want."""
        inputs = iter(zip(self.graph.inputs, self._given_names))
        values = iter(flat_arguments)

        def spec(path, leaf):
            parts = nest.flatten(leaf, expand_composites=True)
            tensors = [next(inputs) for part in parts if _is_passed(next(values))]
            if not tensors or nest.is_sequence_or_composite(leaf) or is_resource_variable(leaf):
                return described(leaf)
            ((tensor, name),) = tensors
            return TensorSpec(tensor.shape, tensor.dtype.base_dtype, "/".join([name, *map(str, path[2:])]))

        return nest.map_structure_with_tuple_paths(spec, arguments)

    @property
    def output_shapes(self):
        return nest.map_structure(
            lambda t: TensorShape(None) if t is None else t.shape, self.structured_outputs, expand_composites=True
        )

    @property
    def output_dtypes(self):
        return nest.map_structure(
            lambda t: None if t is None else t.dtype, self.structured_outputs, expand_composites=True
        )

    def add_to_graph(self, g=None):
        """Let a graph's nodes call this function."""
        self._function.add_to_graph(get_default_graph() if g is None else g)

    def add_gradient_functions_to_graph(self, g=None):
        """Let a graph's nodes call the two functions that differentiating this one takes."""
        add_gradient_functions(self._function, get_default_graph() if g is None else g)

    def __call__(self, *args, **kwargs):
        count = len(self._argument_names)
        values = [part for value in args for part in _parts(value)]
        for name in self._argument_names[len(values) :]:
            if name not in kwargs:
                raise TypeError(
                    f"Expected argument names {self._argument_names[len(values) :]} but got values for {sorted(kwargs)}."
                )
            values.append(kwargs.pop(name))
        if kwargs or len(values) != count:
            raise TypeError(f"Keyword arguments {sorted(kwargs)} unknown, or {len(values)} arguments for {count}.")
        return self._call_flat([self._checked(i, v) for i, v in enumerate(values)])

    def _checked(self, index, value):
        """An argument as a tensor: a trace takes no Python values, since others were traced in."""
        if self.graph.inputs[index].dtype == dtypes.resource and is_resource_variable(value):
            tapes.variable_accessed(value)
            return value.handle
        if hasattr(value, "handle"):
            value = convert_to_tensor(value)
        wanted = self.graph.inputs[index].dtype.base_dtype
        if not isinstance(value, Tensor):
            raise ValueError(
                f"Argument {index} of {self.graph.name!r}, one of its traces, must be a Tensor, not {value!r}"
            )
        if value.dtype.base_dtype != wanted:
            text = f"Argument {index} of {self.graph.name!r} is {value.dtype.base_dtype.name}, but was traced as {wanted.name}"
            raise InvalidArgumentError(None, None, text)
        return value

    def _call_flat(self, tensors, captured_inputs=None):
        values = [*tensors, *(self.captured_inputs if captured_inputs is None else captured_inputs)]
        graph = get_default_graph()
        for variable in self.graph.accessed.values():
            tapes.variable_accessed(variable)
        if graph is not self.graph.outer_graph:
            self._function.add_to_graph(graph)
            if isinstance(graph, BodyGraph):
                for variable in self.graph.accessed.values():
                    graph.variable_accessed(variable)
        with control_dependencies(self.graph.control_captures):
            found = call(self._function, values, self.graph.outputs)
        if not self.graph.outputs:
            if executing_eagerly():
                return self.structured_outputs if not isinstance(self.structured_outputs, Operation) else None
            if all(x is None for x in nest.flatten(self.structured_outputs, expand_composites=True)):
                return found if self.structured_outputs is None else self.structured_outputs
        held = iter(found)
        flat = [
            None if x is None else next(held) for x in nest.flatten(self.structured_outputs, expand_composites=True)
        ]
        flat = [x if spec is None else spec.from_variant(x) for x, spec in zip(flat, self._variants)]
        return nest.pack_sequence_as(self.structured_outputs, flat, expand_composites=True)


def _parts(value):
    """The tensors of an argument: its own, or those that a composite is made of. A trace takes no structures."""
    return [value] if nest.is_sequence(value) else nest.flatten(value, expand_composites=True)


def _is_passed(value):
    return isinstance(value, (Tensor, TensorSpec)) or is_resource_variable(value)


def passed(flat):
    """What a call passes of its flat arguments: tensors, and the handles of variables."""
    return [x if isinstance(x, Tensor) else x.handle for x in flat if _is_passed(x)]


def _numbered(names):
    """Names of which those that were there before have a number."""
    seen, made = Counter(), []
    for name in names:
        made.append(f"{name}_{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return made


def _attribute(key, value):
    """An attribute of a FunctionDef."""
    if not isinstance(value, (bool, int, float, str, bytes)):
        raise ValueError(f"The attribute {key!r} of a function must be a bool, a number or a string, not {type(value)}")
    return attribute_values.to_proto(value)
