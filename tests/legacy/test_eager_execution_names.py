"""Inner modules of eager execution: tapes by hand, ops by their types, forward products, cancellation."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.eager import (
    backprop,
    cancellation,
    context,
    execute,
    forwardprop,
    imperative_grad,
    profiler_client,
    tape,
)


def test_a_tape_by_hand():
    with context.eager_mode():
        x, v = tf.constant(3.0), tf.contrib.eager.Variable(2.0)
        made = tape.push_new_tape(persistent=True)
        tape.watch(made, x)
        y = x * x * v
        assert tape.should_record([y]) and tape.could_possibly_record()
        tape.pop_tape(made)
        assert not tape.could_possibly_record()
        assert [float(g) for g in imperative_grad.imperative_grad(made, [y], [x])] == [12.0]
        assert [variable is v for variable in made.watched_variables()] == [True]


def test_an_operation_of_ones_own_is_recorded():
    with context.eager_mode(), tf.GradientTape() as recording:
        x, out = tf.constant(3.0), tf.constant(7.0)
        recording.watch(x)
        tape.record_operation("Mine", [out], [x], lambda grad: [5.0 * grad])
        assert float(recording.gradient(out, x)) == 5.0


def test_ops_by_their_types():
    with context.eager_mode():
        x = tf.constant([1.0, 2.0])
        (total,) = execute.execute(b"AddN", 1, [x, x, x], ("N", 3, "T", tf.float32.as_datatype_enum), None)
        np.testing.assert_array_equal(total, [3.0, 6.0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            execute.execute("Add", 1, [x, tf.constant(1)], ("T", tf.float32.as_datatype_enum), None)


def test_arguments_become_attributes():
    assert execute.make_shape([1, None], "s") == [1, None]
    assert execute.make_type(tf.int32, "t") == 3
    for make, bad in [
        (execute.make_int, "x"),
        (execute.make_float, "x"),
        (execute.make_str, 1),
        (execute.make_bool, 1),
        (execute.make_type, "nope"),
        (execute.make_shape, "a"),
    ]:
        with pytest.raises(TypeError, match="'arg'"):
            make(bad, "arg")
    with context.eager_mode():
        number, tensors = execute.args_to_matching_eager([[1, 2], tf.constant(3.0)], None)
        assert number == tf.float32.as_datatype_enum and tensors[0].dtype == tf.float32
        assert execute.convert_to_mixed_eager_tensors([1, 2.0], None)[0] == [3, 1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.sin(x) * x,
        lambda x: tf.reduce_sum(x * x, axis=0),
        lambda x: tf.matmul(x[:, None], x[None, :]),
        lambda x: tf.concat([x, tf.exp(x)], 0),
    ],
)
def test_products_forward_are_those_backward(function):
    with context.eager_mode():
        x, tangent = tf.constant([0.3, -1.2]), tf.constant([0.5, 2.0])
        with forwardprop.ForwardGradientAccumulator() as accumulator:
            accumulator.watch(x, tangent)
            y = function(x)
        with tf.GradientTape(persistent=True) as recording:
            recording.watch(x)
            flat = tf.reshape(function(x), [-1])
        jacobian = recording.jacobian(flat, x)
        expected = tf.reshape(tf.linalg.matvec(jacobian, tangent), y.shape)
        np.testing.assert_allclose(accumulator.jvp(y), expected, rtol=1e-5)
        assert accumulator.jvp(tf.constant(1.0)) is None


def test_cancelled_functions():
    manager = cancellation.CancellationManager()
    function = manager.get_cancelable_function(lambda: 1)
    assert function() == 1
    manager.start_cancel()
    assert manager.is_cancelled
    with pytest.raises(tf.errors.CancelledError):
        function()


def test_slices_of_slices():
    with context.eager_mode():
        inner = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([1, 0]))
        nested = tf.IndexedSlices(inner, tf.constant([5, 7]))
        flat = backprop.flatten_nested_indexed_slices(nested)
        assert flat.indices.numpy().tolist() == [7, 5]


@context.eager_mode()
def test_tangents_of_one_op():
    x, y, z = tf.constant([[3.0]]), tf.constant([[2.0]]), tf.constant([[6.0]])
    attributes = ("transpose_a", False, "transpose_b", False)
    (tangent,) = forwardprop._forward_gradient("MatMul", attributes, [x, y], [z], [tf.ones([1, 1]), None])
    assert tangent.numpy() == 2.0
    with forwardprop.ForwardGradientAccumulator() as accumulator, pytest.raises(ValueError, match="of that type"):
        accumulator.watch(x, tf.constant([[1]]))


@context.eager_mode()
def test_a_context_of_ones_own():
    one = context.Context(device_policy=context.DEVICE_PLACEMENT_SILENT)
    assert one.executing_eagerly() and one.summary_writer is None and one.summary_step is None
    with one._mode(context.GRAPH_MODE):
        assert not one.executing_eagerly()
    one.zeros_cache().put("key", 3)
    assert one.zeros_cache().get("key") == 3
    one.zeros_cache().flush()
    assert one.zeros_cache().get("key") is None


@context.eager_mode()
def test_copies_of_tensors():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        copied = x._copy()
    assert tape.gradient(copied, x).numpy().tolist() == [1.0, 1.0]
    assert x._copy_nograd()._numpy().tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="GPU"):
        x._copy_to_device("/device:GPU:0")


def test_nobody_answers_who_could_be_profiled():
    with pytest.raises(tf.errors.UnavailableError):
        profiler_client.start_tracing("localhost:1", "/tmp", 10)
