"""tf.keras.optimizers: first steps by hand, hyperparameters that change, sparse gradients, and configs."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

K, optimizers = tf.keras.backend, tf.keras.optimizers


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()


def steps(optimizer, count=1, start=(1.0, 2.0)):
    """Values of weights after steps down w²."""
    w = K.variable(list(start))
    step = K.function([], [], updates=optimizer.get_updates(tf.reduce_sum(w * w), [w]))
    for _ in range(count):
        step([])
    return K.get_value(w)


@pytest.mark.parametrize(
    "optimizer, expected",
    [
        (lambda: optimizers.SGD(0.1), [0.8, 1.6]),
        (lambda: optimizers.SGD(0.1, decay=1.0), [0.8, 1.6]),
        (lambda: optimizers.SGD(0.1, clipvalue=1.0), [0.9, 1.9]),
        (lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True), [1 - 0.2 * 1.9, 2 - 0.4 * 1.9]),
        (lambda: optimizers.Adam(0.1), [0.9, 1.9]),
        (lambda: optimizers.Adam(0.1, amsgrad=True), [0.9, 1.9]),
        (lambda: optimizers.Adamax(0.1), [0.9, 1.9]),
        (lambda: optimizers.Adagrad(0.1), [1 - 0.2 / np.sqrt(4.1), 2 - 0.4 / np.sqrt(16.1)]),
        (lambda: optimizers.RMSprop(0.1), [1 - 0.1 / np.sqrt(0.1), 2 - 0.1 / np.sqrt(0.1)]),
        (
            lambda: optimizers.Adadelta(1.0, epsilon=1e-2),
            [1 - 2 * np.sqrt(1e-2 / (0.2 + 1e-2)), 2 - 4 * np.sqrt(1e-2 / (0.8 + 1e-2))],
        ),
    ],
)
def test_first_step(optimizer, expected):
    np.testing.assert_allclose(steps(optimizer()), expected, rtol=1e-4)


@pytest.mark.parametrize("name", ["sgd", "adam", "adamax", "adadelta", "adagrad", "ftrl", "nadam", "rmsprop"])
def test_all_go_down_by_name_and_come_back_from_their_config(name):
    optimizer = optimizers.get(name)
    assert (steps(optimizer, 3) < [1.0, 2.0]).all()
    again = optimizers.deserialize(optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()


@pytest.mark.parametrize("name", ["sgd", "adam", "adamax", "adadelta", "adagrad", "ftrl", "nadam", "rmsprop"])
def test_rows_of_an_embedding(name):
    table = K.variable(np.ones((4, 2)))
    optimizer = optimizers.get(name)
    (gradient,) = tf.gradients(tf.reduce_sum(tf.gather(table, [1, 3, 1])), [table])
    assert isinstance(gradient, tf.IndexedSlices)
    step = optimizer.apply_gradients([(gradient, table)])
    K.get_session().run(step)
    changed = K.get_value(table)
    assert (changed[[1, 3]] < 1).all()
    np.testing.assert_allclose(changed[[0, 2]], 1.0)


def test_learning_rate_changes_while_training():
    optimizer = optimizers.SGD(lr=0.1)
    assert K.get_value(optimizer.lr) == pytest.approx(0.1)
    optimizer.lr = 0.5
    assert K.get_value(optimizer.learning_rate) == 0.5
    np.testing.assert_allclose(steps(optimizer), [0.0, 0.0], atol=1e-6)
    K.set_value(optimizer.lr, 0.25)
    assert optimizer.get_config()["learning_rate"] == 0.25


def test_schedules():
    S = optimizers.schedules
    at = [0, 5, 10, 25]
    cases = {
        S.ExponentialDecay(1.0, 10, 0.5): [1, 0.5**0.5, 0.5, 0.5**2.5],
        S.ExponentialDecay(1.0, 10, 0.5, staircase=True): [1, 1, 0.5, 0.25],
        S.PiecewiseConstantDecay([5, 10], [1.0, 0.5, 0.1]): [1, 1, 0.5, 0.1],
        S.PolynomialDecay(1.0, 10, end_learning_rate=0.0): [1, 0.5, 0, 0],
        S.InverseTimeDecay(1.0, 10, 1.0): [1, 1 / 1.5, 0.5, 1 / 3.5],
    }
    for schedule, expected in cases.items():
        again = S.deserialize(S.serialize(schedule))
        np.testing.assert_allclose([K.eval(again(tf.constant(step))) for step in at], expected, rtol=1e-5, atol=1e-7)
    optimizer = optimizers.SGD(S.PiecewiseConstantDecay([0], [0.1, 0.0]))
    np.testing.assert_allclose(steps(optimizer, 3), [0.8, 1.6], rtol=1e-5)


def test_weights_of_the_optimizer():
    optimizer = optimizers.Adam()
    steps(optimizer, 2)
    weights = optimizer.get_weights()
    assert [w.shape for w in weights] == [(), (2,), (2,)]
    assert weights[0] == 2
    optimizer.set_weights([np.array(7), *weights[1:]])
    assert K.get_value(optimizer.iterations) == 7
    with pytest.raises(ValueError, match="weight list of length 1"):
        optimizer.set_weights([np.array(7)])


def test_minimize_and_constraints():
    w = K.variable(1.0, constraint=lambda value: tf.maximum(value, 0.95))
    step = optimizers.SGD(0.1).minimize(lambda: w * w, [w])
    K.get_session().run(step)
    assert K.get_value(w) == pytest.approx(0.95)


def test_refused():
    with pytest.raises(TypeError, match="Unexpected keyword argument passed to optimizer: speed"):
        optimizers.SGD(0.1, speed=3)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizers.SGD().apply_gradients([(None, K.variable(1.0))])
    with pytest.raises(ValueError, match="has `None` for gradient"):
        optimizers.SGD().get_updates(tf.constant(1.0), [K.variable(1.0)])
    with pytest.raises(ValueError, match="Unknown optimizer: fastest"):
        optimizers.get("fastest")


def test_an_optimizer_of_tf_train():
    wrapped = optimizers.get(tf.train.MomentumOptimizer(0.1, 0.9))
    np.testing.assert_allclose(steps(wrapped, 1), [0.8, 1.6], rtol=1e-5)


@pytest.mark.parametrize("in_function", [False, True])
def test_variables_of_one_name_have_slots_of_their_own(in_function):
    with eager_mode():
        one, other = tf.compat.v2.Variable([1.0]), tf.compat.v2.Variable([3.0])
        assert one.name == other.name and one._unique_id != other._unique_id
        optimizer = tf.keras.optimizers.Adam(0.1)

        def step():
            optimizer.apply_gradients([(tf.constant([0.1]), one), (tf.constant([0.01]), other)])

        optimizer._create_hypers()
        optimizer.iterations  # noqa: B018
        optimizer._create_slots([one, other])
        step = tf.function(step) if in_function else step
        step()
        step()
        assert [slot.name for slot in optimizer.weights[1:]] == ["Variable/m:0"] * 2 + ["Variable/v:0"] * 2
        assert optimizer.get_slot(one, "m") is not optimizer.get_slot(other, "m")
        np.testing.assert_allclose([one.numpy()[0], other.numpy()[0]], [0.8, 2.8], atol=1e-3)


def test_a_schedule_of_ones_own_may_lack_a_configuration():
    class Halves(optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5

    with pytest.raises(NotImplementedError, match="get_config"):
        Halves().get_config()
    assert float(steps(optimizers.SGD(Halves()), start=(1.0, 2.0))[0]) == 0.0


def test_an_optimizer_without_a_name_is_called_as_its_class():
    class MyKind(tf.keras.optimizers.Optimizer):
        pass

    tf.keras.backend.reset_uids()
    made = [MyKind(None), MyKind(name=None), tf.keras.optimizers.SGD(name=None)]
    assert [optimizer._name for optimizer in made] == ["my_kind", "my_kind_1", "sgd"]


def test_batches_of_tensors_with_one_dimension_are_columns():
    """As arrays with one dimension are."""
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(1,), kernel_initializer="ones")])
        model.compile("sgd", "sparse_categorical_crossentropy")
        x, y = np.ones([5], np.float32), np.zeros([5], np.float32)
        tensors = model.test_on_batch(tf.constant(x), tf.constant(y))
        assert tensors == pytest.approx(model.test_on_batch(x, y))
        assert model.predict_on_batch(tf.constant(x)).shape == (5, 4)
