"""Functions given to datasets, drawn as functions of the graph: elements by structure, outer tensors captured."""

from __future__ import annotations

import functools

from everflow.data import structure
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import call_attr
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.ops.autograph.conversion import converted
from everflow.ops.functions.bodies import BodyGraph, define, order_stateful_ops, unique_name
from everflow.ops.functions.defun import Defun


def _name_of(function) -> str:
    if isinstance(function, functools.partial):
        return _name_of(function.func)
    return getattr(function, "__name__", None) or type(function).__name__


class StructuredFunction:
    """A Python function on elements as a function of the graph; `output_structure` holds the specs of what it returns.

    A legacy one is a `Defun`: it has seeds of its own, and ops with state are not ordered.
    """

    def __init__(self, function, transformation: str, input_structure, legacy=False):
        self.transformation = transformation
        self._function = function
        self.input_structure = input_structure
        if not callable(function):
            raise ValueError(f"The function passed to {transformation} is not callable: {function!r}")
        name = f"{transformation.replace('()', '').replace('.', '_')}_{_name_of(function)}"
        # Executing eagerly, functions live as long as somebody keeps them.
        self._made, self.captured_inputs = (self._as_defun if legacy else self._as_body)(name, get_default_graph())
        self.attr = call_attr(self._made.name)

    def _as_body(self, name, graph):
        body = BodyGraph(name, graph)
        with body.as_default():
            types, shapes = structure.flat_types(self.input_structure), structure.flat_shapes(self.input_structure)
            inputs = [body.add_input(t, f"args_{i}", s) for i, (t, s) in enumerate(zip(types, shapes))]
            outputs = self._called(structure.from_tensors(self.input_structure, inputs))
            body.control_outputs = order_stateful_ops(body)
            outputs = [raw.Identity(input=body.capture(t)) for t in outputs]
        for tensor in outputs:
            tensor.op._add_control_inputs(body.control_outputs)
        drawn = body.body(inputs + list(body._captures.values()), outputs)
        arguments = [f"args_{i}" for i in range(len(inputs))]
        made = define(drawn, unique_name(f"__inference_{name}"), graph, argument_names=arguments)
        return made, list(body._captures)

    def _as_defun(self, name, graph):
        def draw(*arguments):
            for tensor, shape in zip(arguments, structure.flat_shapes(self.input_structure)):
                tensor.set_shape(shape)
            return self._called(structure.from_tensors(self.input_structure, arguments))

        function = Defun(*structure.flat_types(self.input_structure), func_name=unique_name(name))(draw)
        while graph is not None:
            function.add_to_graph(graph)
            graph = graph.outer_graph
        return function, function.captured_inputs

    def _called(self, element) -> list[Tensor]:
        # Only a plain tuple is spread over the arguments: a named tuple is one.
        function = converted(self._function)
        result = function(*element) if type(element) is tuple else function(element)
        if isinstance(result, list):
            result = tuple(result)
        leaves = structure.flatten(result)
        try:
            for leaf in leaves:
                # Its type is asked first, by a conversion of its own; a list's is that of the tensor made of it.
                if not isinstance(leaf, list):
                    structure.spec_of(leaf)
            leaves = [leaf if structure.is_composite(leaf) else convert_to_tensor(leaf) for leaf in leaves]
        except (TypeError, ValueError) as e:
            raise TypeError(f"Unsupported return value from function passed to {self.transformation}: {result}.") from e
        self.output_structure = structure.pack_as(result, [structure.spec_of(leaf) for leaf in leaves])
        return structure.to_tensors(self.output_structure, structure.pack_as(result, leaves))

    def argument(self, name: str) -> dict:
        """The function as the argument of a dataset's op that has this name, with the tensors that it captured."""
        return {"other_arguments": self.captured_inputs, name: self}

    def check_returns_scalar(self, argument: str, dtype):
        """ValueError where the function, an argument of this name, surely does not return one scalar of this dtype."""
        if not structure.is_scalar(self.output_structure, dtype):
            raise ValueError(f"`{argument}` must return one scalar of type {dtype.name}, not {self.output_structure}")
