"""tf.contrib.constrained_optimization: objectives go down while constraints hold."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import constrained_optimization as constrained


class NearestPoint(constrained.ConstrainedMinimizationProblem):
    """The point nearest to zero whose first coordinate is at least 1."""

    def __init__(self, proxy=False):
        self.point = tf.Variable([2.0, 2.0], name="point")
        self._proxy = proxy

    @property
    def objective(self):
        return tf.reduce_sum(self.point**2)

    @property
    def constraints(self):
        violation = 1.0 - self.point[0]
        return tf.stack([tf.sign(violation) * 0.5 if self._proxy else violation])

    @property
    def proxy_constraints(self):
        return tf.stack([1.0 - self.point[0]]) if self._proxy else None


@pytest.mark.parametrize(
    "make",
    [
        lambda step: constrained.AdditiveExternalRegretOptimizer(step, maximum_multiplier_radius=4.0),
        constrained.AdditiveSwapRegretOptimizer,
        lambda step: constrained.MultiplicativeSwapRegretOptimizer(step, initial_multiplier_radius=0.5),
    ],
)
@pytest.mark.parametrize("proxy", [False, True])
def test_training_stops_where_the_constraint_holds(make, proxy):
    problem = NearestPoint(proxy)
    train = make(tf.train.GradientDescentOptimizer(0.05)).minimize(problem)
    seen = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(600):
            sess.run(train)
            seen.append(sess.run(problem.point))
    np.testing.assert_allclose(np.mean(seen[300:], axis=0), [1.0, 0.0], atol=0.1)


def test_the_first_steps_may_be_without_constraints():
    problem = NearestPoint()
    step = tf.train.get_or_create_global_step()
    optimizer = constrained.AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.5))
    train = optimizer.minimize(problem, unconstrained_steps=1, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([problem.point, step])[0].tolist() == [0.0, 0.0]
        assert sess.run(tf.global_variables()[-1]).tolist() == [0.0]
        sess.run(train)
        assert sess.run(tf.global_variables()[-1]).tolist() == [0.5]
        assert sess.run(step) == 2
    with pytest.raises(ValueError, match="global_step"):
        optimizer.minimize(problem, unconstrained_steps=1)


def test_candidates_are_chosen_by_their_worst_rank():
    objectives = np.array([3.0, 1.0, 2.0, 0.5])
    violations = np.array([[-1.0, 0.5, 0.0, 2.0], [-1.0, 0.1, -1.0, 2.0]])
    assert constrained.find_best_candidate_index(objectives, violations) == 2
    assert constrained.find_best_candidate_index(objectives, violations, rank_objectives=True) == 1
    with pytest.raises(ValueError, match="columns"):
        constrained.find_best_candidate_index(objectives, violations[:, :2])


def test_a_mixture_of_candidates_holds_constraints_on_average():
    pytest.importorskip("scipy")
    chosen = constrained.find_best_candidate_distribution(np.array([0.0, 1.0]), np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(chosen, [0.5, 0.5], atol=1e-6)
    with pytest.raises(ValueError, match="epsilon"):
        constrained.find_best_candidate_distribution(np.array([0.0, 1.0]), np.array([[1.0, 2.0]]))
    chosen = constrained.find_best_candidate_distribution(np.array([0.0, 1.0]), np.array([[1.0, 2.0]]), 1e-4)
    np.testing.assert_allclose(chosen, [1.0, 0.0], atol=1e-3)


def test_radii_are_checked():
    step = tf.train.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match="maximum_multiplier_radius"):
        constrained.AdditiveExternalRegretOptimizer(step, maximum_multiplier_radius=-1.0)
    with pytest.raises(ValueError, match="initial_multiplier_radius"):
        constrained.MultiplicativeSwapRegretOptimizer(step, None, 0.1, 0.01)
