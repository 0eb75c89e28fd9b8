"""`tf.vectorized_map`, `pfor` and `for_loop`."""

import numpy as np
import pytest
from absl import flags

import everflow as tf
from everflow.ops.parallel_for.jacobians import batch_jacobian, jacobian
from everflow.ops.parallel_for.loops import for_loop, pfor
from tests.ops.parallel_for.agreement import ROWS, check_agreement, evaluated


def test_structures():
    with tf.Graph().as_default():
        made = tf.vectorized_map(
            lambda e: {"sum": e[0] + e[1][0], "second": e[1], "one": tf.constant(1)},
            (tf.constant(ROWS), tf.constant(ROWS)),
        )
        made = evaluated(made)
    np.testing.assert_array_equal(made["sum"], ROWS + ROWS[:, :1])
    np.testing.assert_array_equal(made["second"], ROWS)
    np.testing.assert_array_equal(made["one"], [1, 1, 1])


def test_some_iterations_at_a_time():
    with tf.Graph().as_default():
        outputs = [pfor(lambda i: (i * i, tf.constant(2.0)), n, parallel_iterations=2) for n in (5, 4)]
        five, four = evaluated(outputs)
    np.testing.assert_array_equal(five[0], [0, 1, 4, 9, 16])
    np.testing.assert_array_equal(five[1], [2.0] * 5)
    np.testing.assert_array_equal(four[0], [0, 1, 4, 9])
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Use for_loop instead"):
            pfor(lambda i: i, 4, parallel_iterations=1)
        with pytest.raises(ValueError, match="positive integer"):
            pfor(lambda i: i, 4, parallel_iterations=0)


def test_for_loop():
    with tf.Graph().as_default():
        made = evaluated(
            for_loop(lambda i: (i * 2, [tf.cast(i, tf.float32)]), (tf.int32, [tf.float32]), 3, parallel_iterations=1)
        )
    np.testing.assert_array_equal(made[0], [0, 2, 4])
    np.testing.assert_array_equal(made[1][0], [0.0, 1.0, 2.0])


FUNCTIONS = [
    (lambda a: tf.map_fn(lambda b: b * 2.0, a), ROWS),
    (lambda a: tf.vectorized_map(lambda b: b * 2.0, a), ROWS),
    (tf.function(lambda a: a * 2.0), ROWS),
]


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize(("fn", "elements"), FUNCTIONS)
def test_what_map_fn_computes(fn, elements, known_size):
    check_agreement(fn, elements, known_size)


def _values(made):
    with tf.Session() as session:
        return session.run(made)


def test_reductions_over_iterations():
    x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
    centred = pfor(lambda i, pfor_config: tf.gather(x, i) - pfor_config.reduce_mean(tf.gather(x, i)), 2)
    assert _values(centred).tolist() == [[-1, -2], [1, 2]]
    assert _values(pfor(lambda i, pfor_config: pfor_config.reduce_sum(i + 1), 3)).tolist() == [6, 6, 6]
    joined = pfor(lambda i, pfor_config: pfor_config.reduce_concat(i), 2)
    assert _values(joined).tolist() == [[0, 1], [0, 1]]
    with pytest.raises(ValueError):
        pfor(lambda i, pfor_config: pfor_config.reduce_sum(i), 4, parallel_iterations=2)


def test_sparse_results_become_one():
    made = pfor(lambda i: tf.SparseTensor([[0], [1]], tf.stack([i, 5]), [3]), 2)
    found = _values(made)
    assert found.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.values.tolist() == [0, 5, 1, 5]
    assert found.dense_shape.tolist() == [2, 3]


def test_arrays_are_gone_through_one_by_one():
    x = tf.constant([[1.0], [2.0]])

    def both(i):
        array = tf.TensorArray(tf.float32, 2).write(0, tf.gather(x, i)).write(1, tf.gather(x, i) * 2)
        return array.stack()

    assert _values(pfor(both, 2)).tolist() == [[[1], [2]], [[2], [4]]]


def test_the_gradient_of_a_loop_outside():
    with tf.Graph().as_default():
        x = tf.constant([[0.5, -0.25]])
        weights = tf.constant([[1.0, 2.0], [0.5, -1.0]])
        _, y = tf.while_loop(lambda i, _: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, weights))), [0, x])
        one_by_one = tf.stack([tf.gradients(y[:, j], x)[0] for j in range(2)], axis=1)
        jacobian, wanted = evaluated([batch_jacobian(y, x), one_by_one])
    np.testing.assert_allclose(jacobian, wanted, rtol=1e-5)


def test_examples_with_lists_of_any_length_become_one_sparse_tensor():
    examples = [tf.train.Example() for _ in range(3)]
    for i, example in enumerate(examples):
        example.features.feature["n"].int64_list.value.extend(range(i))
    with tf.Graph().as_default():
        written = tf.constant([example.SerializeToString() for example in examples])
        features = {"n": tf.VarLenFeature(tf.int64), "m": tf.FixedLenFeature([], tf.int64, 7)}
        parsed = pfor(lambda i: tf.parse_single_example(tf.gather(written, i), features), 3)
        found = evaluated(parsed)
    assert found["n"].indices.tolist() == [[1, 0], [2, 0], [2, 1]]
    assert found["n"].values.tolist() == [0, 0, 1] and found["n"].dense_shape.tolist() == [3, 2]
    assert found["m"].tolist() == [7, 7, 7]


def test_an_op_that_cannot_be_drawn_for_all_may_go_through_a_loop():
    def body(i):
        return tf.py_func(lambda n: n * n, [i], tf.int32)

    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="PyFunc"):
            pfor(body, 3)
        flags.FLAGS.op_conversion_fallback_to_while_loop = True
        try:
            assert evaluated(pfor(body, 3)).tolist() == [0, 1, 4]
        finally:
            flags.FLAGS.op_conversion_fallback_to_while_loop = False


def test_what_a_loop_refuses():
    with tf.Graph().as_default():
        stack = tf.raw_ops.StackV2(max_size=4, elem_type=tf.int32)
        with pytest.raises(ValueError, match="outside of pfor"):
            pfor(lambda i: tf.raw_ops.StackPushV2(handle=stack, elem=7), 2)
        with pytest.raises(ValueError, match="to call"):
            pfor(5, 2)


def test_what_is_popped_from_a_stack_outside_all_iterations_share():
    with tf.Graph().as_default():
        stack, pushed = tf.raw_ops.StackV2(max_size=4, elem_type=tf.int32), []
        for number in (5, 6):
            with tf.control_dependencies(pushed[-1:]):
                pushed.append(tf.raw_ops.StackPushV2(handle=stack, elem=number))
        with tf.control_dependencies(pushed):
            shared = pfor(lambda i: tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.int32) + i, 2)
        with tf.control_dependencies([shared]):
            left = tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.int32)
        shared, left = evaluated([shared, left])
        assert shared.tolist() == [6, 7] and left == 5


def test_an_op_after_all_iterations():
    with tf.Graph().as_default():
        assert evaluated(pfor(lambda i: tf.group(i), 3)) is None


def test_loops_and_jacobians_of_what_there_is_none_of():
    x, other = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    number, nothing = for_loop(lambda i: [i, None], [tf.int32, tf.float32], 3)
    assert evaluated([number])[0].tolist() == [0, 1, 2] and nothing is None
    for use_pfor in (True, False):
        by_x, by_other = jacobian(x * 2.0, [x, other], use_pfor=use_pfor)
        assert by_x.shape.as_list() == [2, 2] and by_other is None
        assert batch_jacobian(tf.ones([2, 2]), tf.ones([2, 2]), use_pfor=use_pfor) is None
    with pytest.raises(ValueError, match="no type"):
        for_loop(lambda i: [], [], 3)
