"""tf.keras.backend: its session and learning phase, functions, and the loops and products that are its own."""

import numpy as np
import pytest

import everflow as tf

K = tf.keras.backend


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()


def test_session_initializes_what_keras_made_and_nothing_else():
    mine, plain = K.variable([1.0, 2.0]), tf.Variable(3.0)
    session = K.get_session()
    assert session.run(mine).tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(plain)
    later = K.variable(5.0)
    assert K.get_value(later) == 5.0
    assert K.get_session() is session


def test_default_session_comes_first():
    v = K.variable(2.0)
    with tf.Session() as session:
        assert K.get_session() is session
        assert K.get_value(v) == 2.0
    assert K.get_session() is not session


def test_setting_values_again_adds_no_nodes():
    v = K.variable([1.0, 2.0])
    K.set_value(v, [3.0, 4.0])
    count = len(tf.get_default_graph().get_operations())
    K.batch_set_value([(v, [5.0, 6.0])])
    assert K.get_value(v).tolist() == [5.0, 6.0]
    assert len(tf.get_default_graph().get_operations()) == count


def test_learning_phase():
    x = K.placeholder((2,))
    y = K.in_train_phase(x * 2, x)
    run = K.function([x, K.learning_phase()], [y])
    assert run([np.ones(2), 1])[0].tolist() == [2, 2]
    assert run([np.ones(2), 0])[0].tolist() == [1, 1]
    assert K.function([x], [y])([np.ones(2)])[0].tolist() == [1, 1]
    with K.learning_phase_scope(1):
        assert K.learning_phase() == 1
        assert K.in_train_phase(x, y) is x
    assert isinstance(K.learning_phase(), tf.Tensor)
    with pytest.raises(ValueError, match="0 or 1"):
        K.set_learning_phase(2)


def test_function_runs_updates_after_outputs():
    x, v = K.placeholder(()), K.variable(1.0)
    run = K.function([x], [v * x], updates=[(v, v + 1.0)])
    assert [run([2.0])[0] for _ in range(3)] == [2.0, 4.0, 6.0]
    assert K.get_value(v) == 4.0


def test_function_takes_tensors_and_extra_fetches():
    x, seen = K.placeholder((2,)), []
    run = K.function([x], {"twice": x * 2})
    total = tf.reduce_sum(x)
    run.fetches.append(total)
    run.fetch_callbacks[total] = seen.append
    assert run([tf.constant([1.0, 2.0])])["twice"].tolist() == [2, 4]
    assert seen == [3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="both fed and fetched"):
        K.function([x], [x])([np.ones(2)])
    with pytest.raises(ValueError, match="Invalid argument"):
        K.function([x], [x + 1], colour="red")


@pytest.mark.parametrize("use_resource", [False, True])
def test_function_takes_variables(use_resource):
    x, v = K.placeholder((2,)), tf.Variable([1.0, 2.0], use_resource=use_resource)
    K.get_session().run(v.initializer)
    run = K.function([x], [x * 2])
    for _ in range(2):
        assert run([v])[0].tolist() == [2, 4]


def test_names_and_settings():
    assert [K.get_uid("a"), K.get_uid("a"), K.get_uid("b")] == [1, 2, 1]
    K.reset_uids()
    assert K.get_uid("a") == 1
    with pytest.raises(ValueError, match="floatx"):
        K.set_floatx("int8")
    try:
        K.set_floatx("float64")
        assert K.constant(1).dtype == tf.float64
    finally:
        K.set_floatx("float32")


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_rnn_skips_masked_steps(unroll, backwards):
    x = np.arange(8.0, dtype="f").reshape(2, 4, 1)
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 1]], dtype=bool)

    def step(now, states):
        return now + states[0], [now + states[0]]

    last, outputs, states = K.rnn(
        step,
        K.constant(x),
        [K.zeros((2, 1))],
        go_backwards=backwards,
        mask=K.constant(mask, dtype="bool"),
        unroll=unroll,
    )
    total = (x[..., 0] * mask).sum(axis=1)
    assert K.eval(states[0])[:, 0].tolist() == total.tolist()
    assert K.eval(last)[:, 0].tolist() == total.tolist()
    assert K.eval(outputs).shape == (2, 4, 1)


def test_rnn_unrolled_equals_loop():
    x = K.constant(np.random.RandomState(0).rand(2, 5, 3))

    def step(now, states):
        new = K.tanh(now + 0.5 * states[0])
        return new, [new]

    results = [K.eval(K.rnn(step, x, [K.zeros((2, 3))], unroll=unroll)[1]) for unroll in (False, True)]
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_products():
    a, b = np.random.RandomState(0).rand(2, 3, 4), np.random.RandomState(1).rand(2, 3, 4)
    got = K.eval(K.batch_dot(K.constant(a), K.constant(b), axes=2))
    np.testing.assert_allclose(got, np.einsum("bij,bkj->bik", a, b), rtol=1e-5)
    got = K.eval(K.dot(K.constant(a), K.constant(b[0].T)))
    np.testing.assert_allclose(got, a @ b[0].T, rtol=1e-5)


def test_channels_first_is_channels_last_turned():
    x, kernel = np.random.RandomState(0).rand(1, 5, 6, 2), np.random.RandomState(1).rand(3, 3, 2, 4)
    last = K.eval(K.conv2d(K.constant(x), K.constant(kernel), padding="same"))
    first = K.eval(
        K.conv2d(K.constant(x.transpose(0, 3, 1, 2)), K.constant(kernel), padding="same", data_format="channels_first")
    )
    np.testing.assert_allclose(last, first.transpose(0, 2, 3, 1), rtol=1e-5)


def test_local_convolution_with_one_kernel_everywhere_is_a_convolution():
    x, kernel = np.random.RandomState(0).rand(2, 6, 3), np.random.RandomState(1).rand(3, 3, 4)
    local = K.local_conv1d(K.constant(x), K.constant(np.tile(kernel.reshape(1, 9, 4), (4, 1, 1))), (3,), (1,))
    np.testing.assert_allclose(K.eval(local), K.eval(K.conv1d(K.constant(x), K.constant(kernel))), rtol=1e-5)


def test_ctc_of_a_certain_path_costs_nothing():
    probabilities = np.full((1, 4, 3), 1e-6, dtype="f")
    probabilities[0, [0, 1, 2, 3], [0, 2, 1, 2]] = 1.0
    labels, lengths = K.constant([[0, 1]], dtype="int32"), K.constant([[2]], dtype="int32")
    cost = K.eval(K.ctc_batch_cost(labels, K.constant(probabilities), K.constant([[4]], dtype="int32"), lengths))
    assert abs(cost[0, 0]) < 1e-3
    (decoded,), _ = K.ctc_decode(K.constant(probabilities), K.constant([4], dtype="int32"))
    assert K.eval(decoded).tolist() == [[0, 1]]


def test_random_numbers_follow_numpy():
    np.random.seed(5)
    first = K.random_normal((2,)).op.inputs[0].op.inputs[0].op.get_attr("seed2")
    np.random.seed(5)
    assert K.random_normal((2,)).op.inputs[0].op.inputs[0].op.get_attr("seed2") == first


def test_functions_take_values_of_other_shapes_than_declared():
    x = tf.placeholder(tf.float32, [2, 3])
    double, declared, total = tf.keras.backend.function([x], [x * 2.0, tf.shape(x), tf.reduce_sum(x)])(
        [np.ones([4, 3])]
    )
    assert double.shape == (4, 3) and declared.tolist() == [2, 3] and total == 12.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.keras.backend.function([x], [x + tf.ones([2, 3])])([np.ones([4, 3])])
    options = tf.compat.v1.keras.backend.get_session()._make_callable_from_options
    from everflow.protos import config_pb2

    run = options(config_pb2.CallableOptions(feed=[x.name], fetch=["mul:0"]))
    assert run(np.ones([5], np.float32))[0].shape == (5,)
