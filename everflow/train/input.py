"""Input by queues: producers that go through lists epoch by epoch, and batching from one source or several."""

from __future__ import annotations

import re

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_indexed_slices
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, executing_eagerly, name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks.values import Assert
from everflow.ops.io.summaries import scalar
from everflow.ops.queues.queues import FIFOQueue
from everflow.ops.random.distributions import random_shuffle
from everflow.ops.variables.variable import VariableV1
from everflow.platform.signatures import parameters, takes, taking
from everflow.train.batching import NOT_EAGERLY, batched, plain_queue, roomy_shuffled_queue, shuffled_queue
from everflow.train.queue_runner import QueueRunner, add_queue_runner

# --- producers --------------------------------------------------------------------------------


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor `num_epochs` times, then OutOfRangeError. Its counter needs `tf.local_variables_initializer()`.

    Args:
        tensor: The tensor.
        num_epochs: How often to go through all of them; for ever if None.
        name: The name of the operation in the graph.

    Returns:
        The tensor.

    Raises:
        ValueError: If `num_epochs` is not positive.
        OutOfRangeError: When it is run once more.

    Example:
        >>> once = tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=1)
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(once)
        array([1, 2], dtype=int32)
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as name:
        zero = constant(0, dtype=dtypes.int64)
        epochs = VariableV1(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        counter = epochs.count_up_to(num_epochs)
        with control_dependencies([counter]):
            return array.identity(tensor, name=name)


def input_producer(
    input_tensor,
    element_shape=None,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    summary_name=None,
    name=None,
    cancel_op=None,
):
    """A queue that a queue runner fills with the rows of a tensor, epoch after epoch.

    Args:
        input_tensor: The tensor.
        element_shape: The shape of a row, where it can't be seen.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is changed at random, anew for each epoch.
        seed: A number that makes the random numbers the same in each run of the program.
        capacity: The most elements a queue holds.
        shared_name: The name under which other sessions of the same server find it, too.
        summary_name: The name of a summary of how full the queue is; None for none.
        name: The name of the operation in the graph.
        cancel_op: What closes the queue and cancels those that wait; made if None.

    Returns:
        A queue, which `tf.train.start_queue_runners` begins to fill.

    Raises:
        RuntimeError: When executing eagerly.
        ValueError: If the shape of a row isn't known.

    Example:
        >>> queue = tf.train.input_producer([[1, 2], [3, 4]], shuffle=False)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(queue.dequeue())
        array([1, 2], dtype=int32)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """
    if executing_eagerly():
        raise RuntimeError(NOT_EAGERLY)
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(f"{input_tensor} has no fully defined shape: pass `element_shape`")
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        held = {"dtypes": [input_tensor.dtype.base_dtype], "shapes": [element_shape]}
        q = FIFOQueue(capacity=capacity, **held, shared_name=shared_name, name=name)
        enq = q.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(q, [enq], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, math.cast(q.size(), dtypes.float32) * (1.0 / capacity))
        return q


_OF_PRODUCERS = "num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None"


@takes(f"string_tensor, {_OF_PRODUCERS}, cancel_op=None")
def string_input_producer(string_tensor, capacity, name, **options):
    """A queue of strings, most often of file names.

    Args:
        string_tensor: The strings.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is changed at random, anew for each epoch.
        seed: A number that makes the random numbers the same in each run of the program.
        capacity: The most elements a queue holds.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.
        cancel_op: What closes the queue and cancels those that wait; made if None.

    Returns:
        A queue, which `tf.train.start_queue_runners` begins to fill.

    Raises:
        ValueError: If there are no strings.

    Example:
        >>> queue = tf.train.string_input_producer(["a.csv", "b.csv"], shuffle=False)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(queue.dequeue())
        b'a.csv'
        >>> coord.request_stop()
        >>> coord.join(threads)
    """
    if not isinstance(string_tensor, Tensor) and not hasattr(string_tensor, "_as_graph_element") and not string_tensor:
        raise ValueError(f"string_input_producer takes one string at least, not {string_tensor!r}")
    message = "string_input_producer requires a non-null input tensor"  # a node of the graph
    with name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([Assert(math.greater(array.size(string_tensor), 0), [message])]):
            string_tensor = array.identity(string_tensor)
        full = f"fraction_of_{capacity}_full"
        return input_producer(string_tensor, [], capacity=capacity, summary_name=full, name=name, **options)


@takes(f"limit, {_OF_PRODUCERS}")
def range_input_producer(limit, capacity, name, **options):
    """A queue of the numbers from 0 to `limit` - 1.

    Args:
        limit: How many numbers.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is changed at random, anew for each epoch.
        seed: A number that makes the random numbers the same in each run of the program.
        capacity: The most elements a queue holds.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.

    Returns:
        A queue, which `tf.train.start_queue_runners` begins to fill.

    Example:
        >>> queue = tf.train.range_input_producer(3, shuffle=False)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(queue.dequeue_many(3))
        array([0, 1, 2], dtype=int32)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """
    with name_scope(name, "input_producer", [limit]) as name:
        numbers = math.range(limit)
        full = f"fraction_of_{capacity}_full"
        return input_producer(numbers, [], capacity=capacity, summary_name=full, name=name, **options)


@takes(f"tensor_list, {_OF_PRODUCERS}")
def slice_input_producer(tensor_list, name, **options):
    """One row of each tensor in a list, the next ones at each run.

    Args:
        tensor_list: The tensors, with as many rows.
        num_epochs: How often to go through all of them; for ever if None.
        shuffle: Whether the order is changed at random, anew for each epoch.
        seed: A number that makes the random numbers the same in each run of the program.
        capacity: The most elements a queue holds.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.

    Returns:
        A list of tensors.

    Raises:
        ValueError: If there are no tensors.

    Example:
        >>> image, label = tf.train.slice_input_producer([[[1.0], [2.0]], [0, 1]], shuffle=False)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run([image, label])
        [array([1.], dtype=float32), np.int32(0)]
        >>> coord.request_stop()
        >>> coord.join(threads)
    """
    with name_scope(name, "input_producer", tensor_list):
        tensor_list = [convert_to_tensor_or_indexed_slices(t) for t in tensor_list]
        if not tensor_list:
            raise ValueError("slice_input_producer has nothing to slice: `tensor_list` is empty")
        range_size = array.shape(tensor_list[0])[0]
        index = range_input_producer(range_size, **options).dequeue()
        return [array.gather(t, index) for t in tensor_list]


# --- batching ---------------------------------------------------------------------------------


_KEEP_INPUT = "Whether the example is taken at all: a bool, or a tensor."


def _batching(name, make_queue, required, optional, doc):
    """(X, maybe_X): batches of all examples, and of those for which an argument more, `keep_input`, is true."""

    def made(called, listed, doc, **more):
        function = taking(
            parameters(f"{listed}, {optional}"), lambda **given: batched(name, make_queue, **given, **more)
        )
        function.__name__ = function.__qualname__ = called
        function.__doc__, function.__module__ = doc, __name__
        return function

    of_some = re.sub(r"^.*", f"`{name}` of those examples for which `keep_input` is true.", doc, count=1)
    of_some = re.sub(r"(?<=Args:\n)( +)", rf"\1keep_input: {_KEEP_INPUT}\n\1", of_some)
    of_some = re.sub(rf"tf\.train\.{name}\(.*(?=\))", r"\g<0>, keep_input=True", of_some).replace(
        f"tf.train.{name}(", f"tf.train.maybe_{name}("
    )
    of_all = required.replace(", keep_input", "")
    return made(name, of_all, doc, keep_input=True), made(f"maybe_{name}", required, of_some)


_SHUFFLED = """seed=None, enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None,
    name=None"""
_PLAIN = """capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
    shared_name=None, name=None"""

batch, maybe_batch = _batching(
    "batch",
    plain_queue,
    "tensors, keep_input, batch_size",
    f"num_threads=1, {_PLAIN}",
    """Tensors of one example (a list or a dictionary) as batches, by way of a queue.

    Args:
        tensors: The tensors of an example: a list or a dictionary.
        batch_size: How many elements make a batch.
        num_threads: How many threads work at it.
        capacity: The most examples a queue holds.
        enqueue_many: Whether the first axis of the tensors counts examples.
        shapes: The shapes of an element's tensors, where they can't be seen.
        dynamic_pad: Whether elements of different shapes are padded with zeros to the largest.
        allow_smaller_final_batch: Whether the last batch may have fewer elements.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.

    Returns:
        Tensors with a first axis of `batch_size`, in the same structure.

    Example:
        >>> number = tf.train.range_input_producer(100, shuffle=False).dequeue()
        >>> batch = tf.train.batch([number], batch_size=3)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(batch)
        array([0, 1, 2], dtype=int32)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """,
)
batch_join, maybe_batch_join = _batching(
    "batch_join",
    plain_queue,
    "tensors_list, keep_input, batch_size",
    _PLAIN,
    """Batches from several sources, one thread each.

    Args:
        tensors_list: A list of such, one for each source.
        batch_size: How many elements make a batch.
        capacity: The most examples a queue holds.
        enqueue_many: Whether the first axis of the tensors counts examples.
        shapes: The shapes of an element's tensors, where they can't be seen.
        dynamic_pad: Whether elements of different shapes are padded with zeros to the largest.
        allow_smaller_final_batch: Whether the last batch may have fewer elements.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.

    Returns:
        Tensors with a first axis of `batch_size`, in the same structure.

    Example:
        >>> sources = [[tf.train.range_input_producer(100).dequeue()] for _ in range(2)]
        >>> batch = tf.train.batch_join(sources, batch_size=3)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(batch).shape
        (3,)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """,
)
shuffle_batch, maybe_shuffle_batch = _batching(
    "shuffle_batch",
    roomy_shuffled_queue,
    "tensors, batch_size, capacity, min_after_dequeue, keep_input",
    f"num_threads=1, {_SHUFFLED}",
    """Like `batch`, with examples in random order.

    Args:
        tensors: The tensors of an example: a list or a dictionary.
        batch_size: How many elements make a batch.
        capacity: The most examples a queue holds.
        min_after_dequeue: How many elements stay in the queue, so that the order is random enough.
        num_threads: How many threads work at it.
        seed: A number that makes the random numbers the same in each run of the program.
        enqueue_many: Whether the first axis of the tensors counts examples.
        shapes: The shapes of an element's tensors, where they can't be seen.
        allow_smaller_final_batch: Whether the last batch may have fewer elements.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.

    Returns:
        Tensors with a first axis of `batch_size`, in the same structure.

    Example:
        >>> number = tf.train.range_input_producer(100).dequeue()
        >>> batch = tf.train.shuffle_batch([number], batch_size=3, capacity=20, min_after_dequeue=5)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(batch).shape
        (3,)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """,
)
shuffle_batch_join, maybe_shuffle_batch_join = _batching(
    "shuffle_batch_join",
    shuffled_queue,
    "tensors_list, batch_size, capacity, min_after_dequeue, keep_input",
    _SHUFFLED,
    """Like `batch_join`, with examples in random order.

    Args:
        tensors_list: A list of such, one for each source.
        batch_size: How many elements make a batch.
        capacity: The most examples a queue holds.
        min_after_dequeue: How many elements stay in the queue, so that the order is random enough.
        seed: A number that makes the random numbers the same in each run of the program.
        enqueue_many: Whether the first axis of the tensors counts examples.
        shapes: The shapes of an element's tensors, where they can't be seen.
        allow_smaller_final_batch: Whether the last batch may have fewer elements.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.

    Returns:
        Tensors with a first axis of `batch_size`, in the same structure.

    Example:
        >>> sources = [[tf.train.range_input_producer(100).dequeue()] for _ in range(2)]
        >>> batch = tf.train.shuffle_batch_join(sources, batch_size=3, capacity=20, min_after_dequeue=5)
        >>> coord = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sess.run(batch).shape
        (3,)
        >>> coord.request_stop()
        >>> coord.join(threads)
    """,
)
