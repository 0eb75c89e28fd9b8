"""Queues as a program holds them: FIFO, padded, shuffled and by priority, with the ops that put elements in and take
them out.
"""

from __future__ import annotations

from everflow.framework import dtypes as _dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.framework.seeds import get_seed
from everflow.framework.shapes import Dimension, TensorShape, as_dimension
from everflow.framework.static_values import constant_value, known_value
from everflow.ops.array import gather, stack
from everflow.ops.shape_rules import reference_handle, scalar_output


def as_type_list(dtypes):
    """One dtype or several, as a list of DTypes."""
    if not isinstance(dtypes, (list, tuple)):
        dtypes = [dtypes]
    return [_dtypes.as_dtype(t) for t in dtypes]


def as_shape_list(shapes, unknown_dim_allowed=False, unknown_rank_allowed=False):
    """One shape or several, as a list of TensorShapes; None where none were given."""
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise TypeError(f"shapes must be one TensorShape or several in a list, not {type(shapes)}")
    if all(shape is None or isinstance(shape, (int, Dimension)) for shape in shapes):
        shapes = [shapes]
    shapes = [TensorShape(shape) for shape in shapes]
    if not unknown_dim_allowed and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if not unknown_rank_allowed and any(shape.dims is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def as_name_list(names, dtypes):
    """One name or several, as a list with a name for each dtype; None where none were given."""
    if names is not None:
        names = list(names) if isinstance(names, (list, tuple)) else [names]
        check_one_each("names", names, dtypes)
    return names


def check_one_each(what, given, dtypes):
    """ValueError unless there are as many shapes or names, if any, as dtypes."""
    if given is not None and len(given) != len(dtypes):
        raise ValueError(f"A store of {len(dtypes)} dtypes wants {what} of the same length, but got {len(given)}")


def in_order(element, names):
    """What is put into a store, component by component: a dictionary where these have names, else a list or a single
    value.
    """
    if not names:
        if isinstance(element, dict):
            raise ValueError("Only a store made with names takes a dictionary; give a list of values")
        return element if isinstance(element, (list, tuple)) else [element]
    if not isinstance(element, dict) or sorted(element) != sorted(names):
        given = f"one with {sorted(element)}" if isinstance(element, dict) else f"{type(element)}"
        raise ValueError(f"The components have names: give a dictionary with {sorted(names)}, not {given}")
    return [element[name] for name in names]


def _common_shapes(all_shapes):
    """For each component the shape that fits all queues."""
    return [
        shapes[0] if all(s == shapes[0] for s in shapes) else _common_shape(shapes)
        for shapes in zip(*all_shapes, strict=True)
    ]


def _common_shape(shapes):
    ranks = {shape.ndims for shape in shapes}
    if len(ranks) != 1 or None in ranks:
        return TensorShape(None)
    return TensorShape(
        [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(s.as_list() for s in shapes), strict=True)]
    )


class QueueBase:
    """What all queues share. Elements are tuples of tensors, or dictionaries where the components have names.

    Args:
        dtypes: The types of an element's tensors.
        shapes: The shapes of an element's tensors; needed to take several at once.
        names: Names for them: elements are dictionaries then.
        queue_ref: The tensor that stands for the queue in the graph.

    Example:
        >>> isinstance(tf.FIFOQueue(1, tf.float32), tf.QueueBase)
        True
    """

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = dtypes
        check_one_each("shapes", shapes, dtypes)
        check_one_each("names", names, dtypes)
        self._shapes = [TensorShape(s) for s in shapes or [None] * len(dtypes)]
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref._op_name.split("/")[-1]

    @staticmethod
    def from_list(index, queues):
        """The queue of a list that `index`, a tensor, chooses when the graph runs."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        dtypes, names = queues[0].dtypes, queues[0].names
        if not all(dtypes == q.dtypes for q in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(names == q.names for q in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        shapes = _common_shapes([q.shapes for q in queues])
        chosen = gather(stack([q.queue_ref for q in queues]), index)
        return QueueBase(dtypes=dtypes, shapes=shapes, names=names, queue_ref=chosen)

    queue_ref = property(lambda self: self._queue_ref, doc="The tensor that stands for the queue in ops.")
    name = property(lambda self: self._queue_ref._op_name, doc="The name of the queue's op, in full.")
    dtypes = property(lambda self: self._dtypes, doc="The dtypes of the components.")
    shapes = property(lambda self: self._shapes, doc="The shapes of the components.")
    names = property(lambda self: self._names, doc="The names of the components, None where they have none.")

    def _check_enqueue_dtypes(self, vals):
        vals = in_order(vals, self._names)
        return [
            convert_to_tensor(val, dtype=dtype, name=f"component_{i}")
            for i, (val, dtype) in enumerate(zip(vals, self._dtypes))
        ]

    @staticmethod
    def _scope_vals(vals):
        if isinstance(vals, (list, tuple)):
            return vals
        return vals.values() if isinstance(vals, dict) else [vals]

    def _dequeue_return_value(self, tensors):
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def enqueue(self, vals, name=None):
        """An op that puts one element in; it waits while the queue is full.

        >>> q = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
        >>> put = q.enqueue([1, [0.5, 1.5]])
        """
        with name_scope(name, f"{self._name}_enqueue", self._scope_vals(vals)) as scope:
            vals = self._check_enqueue_dtypes(vals)
            for val, shape in zip(vals, self._shapes):
                val.shape.assert_is_compatible_with(shape)
            return raw.QueueEnqueueV2(handle=self._queue_ref, components=vals, name=scope)

    def enqueue_many(self, vals, name=None):
        """An op that puts in one element for each row of the given tensors."""
        with name_scope(name, f"{self._name}_EnqueueMany", self._scope_vals(vals)) as scope:
            vals = self._check_enqueue_dtypes(vals)
            batch = as_dimension(None)
            for val, shape in zip(vals, self._shapes):
                batch = batch.merge_with(val.shape.with_rank_at_least(1).size(0))
                val.shape[1:].assert_is_compatible_with(shape)
            return raw.QueueEnqueueManyV2(handle=self._queue_ref, components=vals, name=scope)

    def _set_shapes(self, tensors, *batch):
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(TensorShape(list(batch)).concatenate(shape))
        return self._dequeue_return_value(tensors)

    def dequeue(self, name=None):
        """Take one element out; waits while there is none, OutOfRangeError once the queue is closed and empty."""
        tensors = raw.QueueDequeueV2(
            handle=self._queue_ref, component_types=self._dtypes, name=name or f"{self._name}_Dequeue"
        )
        return self._set_shapes(tensors)

    def dequeue_many(self, n, name=None):
        """Take `n` elements out, as one tensor for each component with a first axis of `n`."""
        name = name or f"{self._name}_DequeueMany"
        tensors = raw.QueueDequeueManyV2(handle=self._queue_ref, n=n, component_types=self._dtypes, name=name)
        count = None if executing_eagerly() else constant_value(tensors[0].op.inputs[1])
        return self._set_shapes(tensors, None if count is None else int(count))

    def dequeue_up_to(self, n, name=None):
        """Like `dequeue_many`, but gives what is left when the queue is closed and holds fewer."""
        name = name or f"{self._name}_DequeueUpTo"
        tensors = raw.QueueDequeueUpToV2(handle=self._queue_ref, n=n, component_types=self._dtypes, name=name)
        return self._set_shapes(tensors, None)

    def close(self, cancel_pending_enqueues=False, name=None):
        """An op after which nothing more can be put in; what is inside can still be taken."""
        return raw.QueueCloseV2(
            handle=self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or f"{self._name}_Close"
        )

    def is_closed(self, name=None):
        """Whether the queue was closed, as a tensor."""
        return raw.QueueIsClosedV2(handle=self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name=None):
        """How many elements are inside, as a tensor."""
        return raw.QueueSizeV2(handle=self._queue_ref, name=name or f"{self._name}_Size")


class FIFOQueue(QueueBase):
    """Gives elements in the order in which they came.

    Args:
        capacity: The most elements a queue holds.
        dtypes: The types of an element's tensors.
        shapes: The shapes of an element's tensors; needed to take several at once.
        names: Names for them: elements are dictionaries then.
        shared_name: The name under which other sessions of the same server find it, too.
        name: Its name in the graph.

    Example:
        >>> queue = tf.FIFOQueue(capacity=10, dtypes=[tf.int32], shapes=[[]])
        >>> sess.run(queue.enqueue_many([[1, 2, 3]]))
        >>> sess.run(queue.dequeue()), sess.run(queue.size())
        (np.int32(1), np.int32(2))
    """

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        dtypes = as_type_list(dtypes)
        shapes = as_shape_list(shapes)
        names = as_name_list(names, dtypes)
        ref = raw.FIFOQueueV2(
            component_types=dtypes, shapes=shapes, capacity=capacity, shared_name=shared_name, name=name
        )
        super().__init__(dtypes, shapes, names, ref)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of elements of different sizes; those taken together are filled up with zeros.

    Args:
        capacity: The most elements a queue holds.
        dtypes: The types of an element's tensors.
        shapes: The shapes of an element's tensors; None where lengths differ.
        names: Names for them: elements are dictionaries then.
        shared_name: The name under which other sessions of the same server find it, too.
        name: Its name in the graph.

    Example:
        >>> queue = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
        >>> sess.run([queue.enqueue([[1, 2, 3]]), queue.enqueue([[4]])])
        [None, None]
        >>> sess.run(queue.dequeue_many(2))
        array([[1, 2, 3],
               [4, 0, 0]], dtype=int32)
    """

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        dtypes = as_type_list(dtypes)
        shapes = as_shape_list(shapes, unknown_dim_allowed=True)
        names = as_name_list(names, dtypes)
        if shapes is None or len(dtypes) != len(shapes):
            raise ValueError(f"Padding needs a shape for each of {len(dtypes)} components, but got {len(shapes or [])}")
        ref = raw.PaddingFIFOQueueV2(
            component_types=dtypes, shapes=shapes, capacity=capacity, shared_name=shared_name, name=name
        )
        super().__init__(dtypes, shapes, names, ref)


class RandomShuffleQueue(QueueBase):
    """Gives elements in random order, and keeps at least `min_after_dequeue` of them inside while it is open.

    Args:
        capacity: The most elements a queue holds.
        min_after_dequeue: How many elements stay inside while it is open.
        dtypes: The types of an element's tensors.
        shapes: The shapes of an element's tensors; needed to take several at once.
        names: Names for them: elements are dictionaries then.
        seed: A number that makes the random numbers the same in each run of the program.
        shared_name: The name under which other sessions of the same server find it, too.
        name: Its name in the graph.

    Example:
        >>> queue = tf.RandomShuffleQueue(10, 0, [tf.int32], shapes=[[]])
        >>> sess.run(queue.enqueue_many([[1, 2, 3]]))
        >>> sorted(sess.run(queue.dequeue_many(3)))
        [np.int32(1), np.int32(2), np.int32(3)]
    """

    def __init__(
        self,
        capacity,
        min_after_dequeue,
        dtypes,
        shapes=None,
        names=None,
        seed=None,
        shared_name=None,
        name="random_shuffle_queue",
    ):
        dtypes = as_type_list(dtypes)
        shapes = as_shape_list(shapes)
        names = as_name_list(names, dtypes)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        ref = raw.RandomShuffleQueueV2(
            component_types=dtypes,
            shapes=shapes,
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1,
            seed2=seed2,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(dtypes, shapes, names, ref)


class PriorityQueue(QueueBase):
    """Gives the element with the lowest priority first; the priority is an int64 before the other components.

    Args:
        capacity: The most elements a queue holds.
        types: The types of the tensors besides the priority.
        shapes: The shapes of the tensors besides the priority.
        names: Names for them: elements are dictionaries then.
        shared_name: The name under which other sessions of the same server find it, too.
        name: Its name in the graph.

    Example:
        >>> queue = tf.PriorityQueue(10, [tf.string], shapes=[[]])
        >>> sess.run(queue.enqueue_many([[5, 1], [b"later", b"first"]]))
        >>> sess.run(queue.dequeue())
        [np.int64(1), b'first']
    """

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = as_type_list(types)
        shapes = as_shape_list(shapes)
        ref = raw.PriorityQueueV2(
            component_types=types, shapes=shapes, capacity=capacity, shared_name=shared_name, name=name
        )
        dtypes = [_dtypes.int64, *types]
        shapes = [TensorShape([]), *shapes] if shapes else shapes
        super().__init__(dtypes, shapes, as_name_list(names, dtypes), ref)


# --- static shapes ----------------------------------------------------------------------------

_QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue")
shape_rule(*(q + "V2" for q in _QUEUES))(scalar_output)
shape_rule(*_QUEUES, "FakeQueue")(reference_handle)


def _component_shapes(op):
    """The shapes of the components of the queue an op works on, where its handle leads to one."""
    made_by = op.inputs[0].op
    shapes = list(made_by.attrs.get("shapes") or ()) if made_by.type.removesuffix("V2") in _QUEUES else []
    if shapes and made_by.type.startswith("PriorityQueue"):
        shapes.insert(0, TensorShape([]))
    return shapes if len(shapes) == len(op.outputs) else [TensorShape(None)] * len(op.outputs)


@shape_rule("QueueDequeue", "QueueDequeueV2")
def _dequeue_shape(op):
    return _component_shapes(op)


@shape_rule("QueueDequeueMany", "QueueDequeueManyV2")
def _dequeue_many_shape(op):
    count = known_value(op.inputs[1])
    if count is not None and int(count) < 0:
        raise ValueError(f"Input must be non-negative, but is {int(count)}")
    batch = TensorShape([None if count is None else int(count)])
    return [batch.concatenate(shape) for shape in _component_shapes(op)]


@shape_rule("QueueDequeueUpTo", "QueueDequeueUpToV2")
def _dequeue_up_to_shape(op):
    return [TensorShape([None]).concatenate(shape) for shape in _component_shapes(op)]


shape_rule("QueueSize", "QueueSizeV2", "QueueIsClosed", "QueueIsClosedV2")(scalar_output)
not_differentiable(
    *_QUEUES,
    *(q + "V2" for q in _QUEUES),
    *(
        "Queue" + what + version
        for what in ("Enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo", "Close", "Size", "IsClosed")
        for version in ("", "V2")
    ),
)
