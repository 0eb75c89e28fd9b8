"""Iterators: what a dataset's elements are taken from, in a graph and when executing eagerly."""

from __future__ import annotations

import contextlib
import warnings

from everflow.data import structure
from everflow.data.optional import get_next_as_optional
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import OutOfRangeError
from everflow.framework.functions import FuncGraph, GraphFunction, call_attr, to_function_def
from everflow.framework.graph import Graph
from everflow.framework.scopes import (
    add_to_collection,
    device,
    executing_eagerly,
    get_default_graph,
    innermost_device,
    name_scope,
)
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.functions.hashes import hashed_name
from everflow.ops.variables.saveables import SaveableObject, SaveSpec

# The collection of a graph's iterators.
_ITERATORS = "iterators"
# So many ops of one iterator are hardly meant.
_OFTEN = 32
_IN_A_LOOP = (
    "Iterator.get_next() adds an op to the graph each time, and was called very often for one iterator: call it once, "
    "and run what it returned for each element."
)


def _taken(build, iterator, name=None):
    """The next element of an iterator, by an op."""
    tensors = build(iterator=iterator._iterator_resource, **structure.attributes(iterator.element_spec), name=name)
    return structure.from_tensors(iterator.element_spec, tensors)


def _on_cpu_unless_told():
    """Iterators without a dataset are on a CPU where no `tf.device` is open, be it one that names nothing."""
    return contextlib.nullcontext() if get_default_graph()._device_stack else device("/cpu:0")


class IteratorSaveable(SaveableObject):
    """Where an iterator is, in a checkpoint, under its name and an ending."""

    def __init__(self, iterator_resource, name, ending="_STATE"):
        saved = SaveSpec(raw.SerializeIterator(resource_handle=iterator_resource), "", name + ending)
        super().__init__(iterator_resource, [saved], name)

    def restore(self, restored_tensors, restored_shapes):
        with get_default_graph().colocate_with(self.op):
            return raw.DeserializeIterator(resource_handle=self.op, serialized=restored_tensors[0])


class _Saved:
    """An iterator as a part of what `tf.train.Checkpoint` saves."""

    def _gather_saveables_for_checkpoint(self):
        return {"ITERATOR": lambda name: IteratorSaveable(self._iterator_resource, name)}


class Iterator(structure.Elements, _Saved):
    """A place in a dataset; `get_next()` gives tensors that hold the next element in each run.

    Args:
        iterator_resource: The tensor that stands for the iterator.
        initializer: The operation that puts it at the start of a dataset, or None.
        output_types: The types of an element.
        output_shapes: The shapes of an element.
        output_classes: The classes of an element.

    Example:
        >>> iterator = tf.data.Dataset.range(3).make_initializable_iterator()
        >>> element = iterator.get_next()
        >>> sess.run(iterator.initializer)
        >>> sess.run(element), sess.run(element)
        (np.int64(0), np.int64(1))
    """

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        if iterator_resource is None or initializer is None and output_types is None:
            raise ValueError("iterator_resource and output_types must be given")
        self._begin(iterator_resource, initializer, structure.from_legacy(output_types, output_shapes, output_classes))

    def _begin(self, resource, initializer, spec):
        self._iterator_resource, self._initializer, self._element_spec = resource, initializer, spec
        self._asked = 0  # how often the program drew the next element
        self._string_handle = raw.IteratorToStringHandle(resource_handle=resource)
        add_to_collection(_ITERATORS, resource)
        return self

    @classmethod
    def _of(cls, resource, initializer, spec):
        return cls.__new__(cls)._begin(resource, initializer, spec)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator without a dataset: `make_initializer(dataset)` makes the op that gives it one.

        Args:
            output_types: The types of an element.
            output_shapes: The shapes of an element; any if None.
            shared_name: The name under which other sessions of the same server find it, too.
            output_classes: The classes of an element; tensors if None.

        Returns:
            An iterator, which `make_initializer(dataset)` puts at the start of a dataset.

        Raises:
            TypeError: If the structures don't fit.

        Example:
            >>> iterator = tf.data.Iterator.from_structure(tf.int64, [])
            >>> element = iterator.get_next()
            >>> sess.run(iterator.make_initializer(tf.data.Dataset.range(5, 8)))
            >>> sess.run(element)
            np.int64(5)
        """
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        with _on_cpu_unless_told():
            resource = raw.IteratorV2(container="", shared_name=shared_name or "", **structure.attributes(spec))
        return Iterator._of(resource, None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator that a string tensor names: which one can be fed.

        >>> handle = tf.placeholder(tf.string, [])
        >>> iterator = tf.data.Iterator.from_string_handle(handle, train.output_types, train.output_shapes)
        >>> sess.run(iterator.get_next(), {handle: sess.run(train_iterator.string_handle())})
        """
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        string_handle = convert_to_tensor(string_handle, dtypes.string)
        with _on_cpu_unless_told():
            resource = raw.IteratorFromStringHandleV2(string_handle=string_handle, **structure.attributes(spec))
        return Iterator._of(resource, None, spec)

    @property
    def initializer(self):
        """The op that starts it again from its dataset's beginning."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An op that starts this iterator over a dataset."""
        with name_scope(name, "make_initializer") as scope:
            mine, others = self._element_spec, dataset.element_spec
            structure.same_structure(mine, others)
            for a, b in zip(structure.flatten(mine), structure.flatten(others)):
                for what, read in (
                    ("classes", type),
                    ("types", structure.legacy_types),
                    ("shapes", structure.legacy_shapes),
                ):
                    x, y = read(a), read(b)
                    if not (x.is_compatible_with(y) if what == "shapes" else x == y):
                        raise TypeError(f"Expected output {what} {x!r} but got dataset with output {what} {y!r}.")
            with get_default_graph().colocate_with(self._iterator_resource.op):
                return raw.MakeIterator(dataset=dataset._variant_tensor, iterator=self._iterator_resource, name=scope)

    def get_next(self, name=None):
        """Tensors that hold the next element; OutOfRangeError when run at the end."""
        self._asked += 1
        if self._asked > _OFTEN:
            warnings.warn(_IN_A_LOOP, stacklevel=2)
        return _taken(raw.IteratorGetNext, self, name)

    def string_handle(self, name=None):
        """A string tensor that names this iterator for `from_string_handle`."""
        if name is None:
            return self._string_handle
        return raw.IteratorToStringHandle(resource_handle=self._iterator_resource, name=name)


class IteratorSpec(TypeSpec):
    """The type of an iterator of eager execution: the specs of its elements."""

    def __init__(self, element_spec):
        self._element_spec = element_spec

    element_spec = property(lambda self: self._element_spec)
    value_type = property(lambda self: IteratorV2)
    _component_specs = (TensorSpec([], dtypes.resource), TensorSpec([], dtypes.variant))

    def _serialize(self):
        return (self._element_spec,)

    def _to_components(self, value):
        return value._iterator_resource, value._deleter

    def _from_components(self, components):
        return IteratorV2(None, components, self._element_spec)

    @staticmethod
    def from_value(value):
        """The spec of an iterator."""
        return value._type_spec


class IteratorV2(structure.Elements, _Saved):
    """An iterator of eager execution and of traced functions: Python's own protocol over a dataset.

    >>> for image, label in dataset:
    ...     train(image, label)
    """

    def __init__(self, dataset=None, components=None, element_spec=None):
        if (dataset is None) == (components is None) or (components is None) != (element_spec is None):
            raise ValueError("An iterator is made of a dataset, or else of its components with the spec of an element")
        if dataset is None:
            self._iterator_resource, self._deleter = components
            self._element_spec = element_spec
            return
        dataset = dataset._apply_options()
        self._element_spec = dataset.element_spec
        with device("/cpu:0"):
            self._iterator_resource, self._deleter = raw.AnonymousIteratorV2(**structure.attributes(self._element_spec))
            raw.MakeIterator(dataset=dataset._variant_tensor, iterator=self._iterator_resource)

    _type_spec = property(lambda self: IteratorSpec(self._element_spec))

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def _next_internal(self):
        return self.get_next()

    def next(self):
        """The next element; StopIteration at the end."""
        try:
            return _taken(raw.IteratorGetNextSync, self)
        except OutOfRangeError:
            raise StopIteration from None

    def get_next(self, name=None):
        """The next element; OutOfRangeError at the end."""
        return _taken(raw.IteratorGetNextSync if executing_eagerly() else raw.IteratorGetNext, self, name)

    def optionals(self):
        """What AutoGraph loops over in a graph: a function that gives the next element as an optional."""
        return lambda: get_next_as_optional(self)


# --- of a dataset ------------------------------------------------------------------------------


def of_values(dataset) -> IteratorV2:
    """An iterator for `for` loops; RuntimeError where a plain graph is drawn, in which nothing can be looped over."""
    if executing_eagerly() or get_default_graph().building_function:
        return IteratorV2(dataset)
    raise RuntimeError(
        "Looping over a dataset is only supported inside of tf.function and with eager execution: else use make_one_shot_iterator"
    )


def initializable(dataset, shared_name=None) -> Iterator:
    """An iterator that must be initialised in each session."""
    if executing_eagerly():
        raise RuntimeError(
            "make_initializable_iterator is for graphs: with eager execution, loop over the dataset itself."
        )
    variant = dataset._apply_options()._variant_tensor
    spec = dataset.element_spec
    resource = raw.IteratorV2(container="", shared_name=shared_name or "", **structure.attributes(spec))
    with get_default_graph().colocate_with(resource.op):
        initializer = raw.MakeIterator(dataset=variant, iterator=resource)
    return Iterator._of(resource, initializer, spec)


class _FactoryGraph(FuncGraph):
    """The body of a function that makes a dataset: what it needs from outside is copied into it."""

    def __init__(self, name, outer_graph, allowed):
        super().__init__(name, outer_graph)
        self._allowed = allowed

    def capture(self, tensor, consumer=None):
        if tensor.graph is self:
            return tensor
        if tensor not in self._captures:
            self._captures[tensor] = self._copied(tensor)
        return self._captures[tensor]

    def _copied(self, tensor):
        """A tensor with all that it is made of, once for each use; without recursion, since datasets may be joined by
        the thousand.
        """
        stack = [(tensor, iter(self._checked(tensor.op).inputs), [])]
        while True:
            current, pending, inputs = stack[-1]
            following = next(pending, None)
            if following is not None:
                stack.append((following, iter(self._checked(following.op).inputs), []))
                continue
            op = current.op
            made = Graph.add_op(self, op.definition, inputs, [t.dtype for t in op.outputs], dict(op.attrs), op.name)
            stack.pop()
            if not stack:
                return made.outputs[current.value_index]
            stack[-1][2].append(made.outputs[current.value_index])

    def _checked(self, op):
        if op.definition.is_stateful and op not in self._allowed:
            raise ValueError(f"Cannot capture a stateful node by value: {op.name}, a {op.type}")
        if op.type in ("Placeholder", "PlaceholderV2"):
            raise ValueError(f"Cannot capture a placeholder by value: {op.name}")
        return op


def _dataset_ops(variant) -> set:
    """The ops that make a dataset and those it is made of."""
    found, waiting = set(), [variant.op]
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            # A dataset that is made again elsewhere comes as a string, which is made of the first one.
            is_copy = op.type in ("DatasetFromGraph", "DatasetToGraph")
            waiting.extend(t.op for t in op.inputs if is_copy or t.dtype.base_dtype is dtypes.variant)
    return found


def one_shot(dataset) -> Iterator | IteratorV2:
    """An iterator that needs no initialisation: the dataset is made by a function of the graph when it is first used."""
    if executing_eagerly():
        return IteratorV2(dataset)
    graph, spec = get_default_graph(), dataset.element_spec
    body = _FactoryGraph("_make_dataset", graph, _dataset_ops(dataset._variant_tensor))
    place = innermost_device()
    try:
        with body.as_default(), device(place):
            made = body.capture(dataset._apply_options()._variant_tensor)
    except ValueError as e:
        if "Cannot capture a stateful node" in str(e):
            raise ValueError(
                "Failed to create a one-shot iterator, which can't capture stateful objects like variables and tables: use "
                f"`make_initializable_iterator`. ({e})"
            ) from e
        raise
    definition = to_function_def(body, "", [], [made])
    definition.signature.description = "Factory function for a dataset."
    definition.signature.name = hashed_name(definition, "_make_dataset")
    definition.attr["_disable_call_shape_inference"].b = True
    function = GraphFunction(definition, body._functions)
    function.add_to_graph(graph)
    resource = raw.OneShotIterator(dataset_factory=call_attr(function.name), **structure.attributes(spec))
    return Iterator._of(resource, None, spec)
