"""Initial values that a function's body draws, for variables outside of it."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_variables_that_a_function_makes_have_initial_values_drawn_in_it():
    made = []

    @tf.function
    def scaled(x):
        if not made:
            made.extend(tf.Variable(lambda: x * 2.0 + tf.random.uniform([], seed=5)) for _ in range(2))
            made.append(tf.Variable(made[0] * 0.0 + 7.0))
        return made[2] * x

    assert scaled(tf.constant(3.0)).numpy() == 21.0
    first, second, last = (v.numpy() for v in made)
    assert first == second and 6.0 <= first < 7.0 and last == 7.0
    assert scaled(tf.constant(1.0)).numpy() == 7.0
