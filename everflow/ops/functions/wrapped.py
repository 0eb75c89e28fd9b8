"""`tf.wrap_function`: a function written for graphs, as a function that keeps its variables and of which parts can be
called.
"""

from __future__ import annotations

import itertools

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.importer import import_graph_def
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.type_specs import TypeSpec
from everflow.ops.functions.bodies import BodyGraph
from everflow.ops.functions.concrete import ConcreteFunction, _numbered
from everflow.ops.functions.initial_values import UnliftableError, lifted
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef


def wrap_function(fn, signature, name=None):
    """Trace a function once, for arguments of a nest of TensorSpecs; the variables it makes are made once and kept.


    With a function that imports a GraphDef, `prune` gives what is between some of its tensors.

    Args:
        fn: The function.
        signature: A structure of TensorSpecs.
        name: The name of the operation in the graph.

    Returns:
        A callable.

    Raises:
        TypeError: If the signature doesn't fit the function.

    Example:
        >>> f = tf.wrap_function(lambda x: x * 2.0, [tf.TensorSpec([], tf.float32)])
        >>> sess.run(f(tf.constant(3.0)))
        np.float32(6.0)
    """
    body = separate_body(name or _name_of(fn))
    result, inside = _drawn(body, fn, signature)
    specs = nest.flatten(signature, expand_composites=True)
    with body.as_default():
        return WrappedFunction(body, result, [t.op.name for t in inside], (tuple(signature), {}), specs)


def _name_of(fn):
    return getattr(fn, "__name__", "wrapped_function").replace("<lambda>", "lambda")


def separate_body(name):
    """A body with no variables or scopes of the graph around."""
    body = BodyGraph(name, get_default_graph())
    body._collections = {}
    # What is written for graphs says itself what waits for what.
    body.orders_state = False
    return body


def _drawn(body, fn, signature):
    """A function drawn in a body that keeps the variables it makes: its results and the placeholders of its
    arguments.
    """

    def creator(next_creator, **kwargs):
        kwargs["use_resource"] = True  # only their handles can come from outside
        value = kwargs.get("initial_value")
        if isinstance(value, Tensor) and not value.is_eager and isinstance(value.graph, BodyGraph):
            kwargs["initial_value"] = lifted(value)
        made = next_creator(**kwargs)
        for key in [GraphKeys.GLOBAL_VARIABLES, *([GraphKeys.TRAINABLE_VARIABLES] if made.trainable else [])]:
            body.get_collection_ref(key).append(made)
        return made

    with body.as_default(), body._variable_creator_scope(creator, priority=50):
        inside = []
        for spec in nest.flatten(signature, expand_composites=True):
            if not isinstance(spec, TypeSpec):
                raise TypeError(f"The signature must be a nest of tf.TensorSpecs, not of {spec!r}")
            inside.append(body.add_input(spec.dtype, spec.name or "placeholder", spec.shape))
        return fn(*nest.pack_sequence_as(signature, inside, expand_composites=True)), inside


class WrappedGraph:
    """Functions written for one graph, that share its variables, scopes and collections.

    >>> g = WrappedGraph()
    >>> double = g.wrap_function(lambda x: x * tf.get_variable("v", initializer=2.0), [tf.TensorSpec([], tf.float32)])
    """

    def __init__(self):
        self._body = separate_body("wrapped_graph")
        self._functions = {}

    graph = property(lambda self: self._body, doc="Where the functions are drawn.")
    functions = property(lambda self: self._functions, doc="The functions by their names.")

    @property
    def variables(self):
        """The variables that the functions made, by their names."""
        return {v.name.partition(":")[0]: v for v in self._body.get_collection(GraphKeys.GLOBAL_VARIABLES)}

    def wrap_function(self, fn, signature, name=None):
        """Draw a function; see `tf.compat.v1.wrap_function`."""
        result, inside = _drawn(self._body, fn, signature)
        made = pruned(self._body, inside, result, name or _name_of(fn), signature)
        self._functions[name or _name_of(fn)] = made
        return made


def function_from_graph_def(graph_def, inputs, outputs):
    """The function of a GraphDef from some of its tensors to others, both nests of names.

    >>> forward = function_from_graph_def(graph_def, inputs="images:0", outputs="logits:0")
    """
    whole = wrap_function(lambda: import_graph_def(graph_def, name=""), [])
    return whole.prune(
        nest.map_structure(whole.graph.as_graph_element, inputs),
        nest.map_structure(whole.graph.as_graph_element, outputs),
    )


class WrappedFunction(ConcreteFunction):
    """A traced function of which parts can be called."""

    # Whether its arguments have names.
    _by_name = False

    def take_by_name(self, arguments):
        """Let calls give arguments by name: `arguments` are the tensors of each."""
        names = [name for name, held in arguments.items() for _ in nest.flatten(held, expand_composites=True)]
        self._argument_names, self._given_names, self._by_name = _numbered(names), names, True
        self._signature = self._signature_of(((), dict(arguments)), nest.flatten(arguments, expand_composites=True))

    def __call__(self, *args, **kwargs):
        if self._by_name:
            given = {key: _tensor_parts(kwargs[key]) for key in sorted(kwargs)}
            return super().__call__(
                *args, **dict(zip(_numbered([k for k in given for _ in given[k]]), itertools.chain(*given.values())))
            )
        if kwargs:
            raise NotImplementedError(
                f"What wrap_function() gives takes its arguments by position; got {sorted(kwargs)}"
            )
        values = args if len(args) == len(self._argument_names) else nest.flatten(args, expand_composites=True)
        return super().__call__(
            *[convert_to_tensor(v, dtype=t.dtype) for v, t in zip(values, self.graph.inputs, strict=False)]
        )

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """The function from some tensors of the body to others; both are nests of tensors, ops and their names.

        >>> forward = imported.prune("images:0", "logits:0")
        """
        return pruned(self.graph, feeds, fetches, name, input_signature)


def _tensor_parts(value):
    return [convert_to_tensor(part) for part in nest.flatten(value, expand_composites=True)]


def pruned(graph, feeds, fetches, name=None, input_signature=None):
    """The function of a body from some of its tensors to others; see `WrappedFunction.prune`."""
    feeds = [graph.as_graph_element(f) for f in nest.flatten(feeds, expand_composites=True)]
    if not all(isinstance(f, Tensor) for f in feeds):
        raise ValueError(f"Feeds must be tensors, not {feeds}")
    wanted = [graph.as_graph_element(f) for f in nest.flatten(fetches, expand_composites=True)]
    captured = graph._captures
    known = {t: f"{t.op.name}_{t.value_index}" if t.value_index else t.op.name for t in [*feeds, *captured.values()]}
    body = BodyGraph(name or "pruned", graph.outer_graph)
    body._collections = dict(graph._collections)
    body.orders_state = False
    # Bodies of traced functions note the variables they read; others do not.
    body.accessed = dict(getattr(graph, "accessed", {}))
    with body.as_default():
        nodes = [_placeholder(text, t) for t, text in known.items()] + [
            _node(op, known) for op in _needed(wanted, known)
        ]
        import_graph_def(GraphDef(node=nodes, library=graph.as_graph_def().library), name="")
        inside = {t: body.get_tensor_by_name(f"{text}:0") for t, text in known.items()}
        for t, stand_in in inside.items():
            stand_in._handle_data = t._handle_data
        body.inputs = [inside[t] for t in feeds]
        fed = set(map(id, feeds))  # `in` would ask `==`, which may be a tensor
        body._captures = {outer: inside[t] for outer, t in captured.items() if id(t) not in fed}
        results = [inside[x] if x in inside else body.as_graph_element(x.name) for x in wanted]
        packed = nest.pack_sequence_as(fetches, results, expand_composites=True)
        made = WrappedFunction(body, packed, [t.op.name for t in body.inputs], (tuple(feeds), {}), feeds)
    if input_signature is not None:
        for tensor, spec in zip(made.graph.inputs, nest.flatten(input_signature, expand_composites=True), strict=False):
            tensor.set_shape(spec.shape)
    return made


def _needed(wanted, known) -> list[Operation]:
    """The ops that make what is wanted from tensors that are known, in the order in which they were made."""
    found, waiting = set(), [x if isinstance(x, Operation) else x.op for x in wanted if x not in known]
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        if op.type == "Placeholder":
            raise UnliftableError(
                f"The placeholder {op.name!r} is needed for what is fetched, but is not among the feeds."
            )
        found.add(op)
        waiting += [t.op for t in op.inputs if t not in known]
        waiting += [c for c in op.control_inputs if not any(t in known for t in c.outputs)]
    return sorted(found, key=lambda op: op._id)


def _placeholder(name, like):
    node = NodeDef(name=name, op="Placeholder")
    node.attr["dtype"].type = like.dtype.base_dtype.as_datatype_enum
    node.attr["shape"].shape.CopyFrom(like.shape.as_proto())
    return node


def _node(op, known):
    """An op's NodeDef, which takes known tensors from the placeholders that stand for them."""
    node = NodeDef()
    node.CopyFrom(op.node_def)
    del node.input[:]
    node.input.extend(
        known.get(t) or (f"{t.op.name}:{t.value_index}" if t.value_index else t.op.name) for t in op.inputs
    )
    node.input.extend(f"^{c.name}" for c in op.control_inputs if not any(t in known for t in c.outputs))
    # What is read of a handle has a shape that the node itself doesn't tell.
    node.attr["_output_shapes"].list.shape.extend(t.shape.as_proto() for t in op.outputs)
    return node
