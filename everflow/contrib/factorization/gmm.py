"""A mixture of Gaussians as an estimator of tf.contrib.learn."""

from __future__ import annotations

from everflow import summary
from everflow.contrib.factorization import gmm_ops
from everflow.contrib.learn.estimator import Estimator
from everflow.contrib.learn.model_ops import ModelFnOps
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.variables import assign as state
from everflow.ops.variables.global_step import get_global_step
from everflow.platform.signatures import takes
from everflow.train.session_run_hook import SessionRunHook


class _BeginHook(SessionRunHook):
    """Gives the mixture its first values."""

    def __init__(self, init_op, is_initialized_op):
        self._init_op, self._is_initialized = init_op, is_initialized_op

    def after_create_session(self, session, coord):
        if not session.run(self._is_initialized):
            session.run(self._init_op)


class GMM(Estimator):
    """Clusters of points, each a Gaussian.

    >>> gmm = tf.contrib.factorization.GMM(num_clusters=3)
    >>> gmm.fit(input_fn=lambda: (tf.constant(points), None), steps=10)
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    @takes(
        """num_clusters, model_dir=None, random_seed=0, params="wmc", initial_clusters="random", covariance_type="full",
        config=None"""
    )
    def __init__(self, model_dir, config, **mixture):
        # What `gmm_ops.gmm` is told besides the points.
        self._mixture = mixture
        super().__init__(model_fn=self._model_builder(), model_dir=model_dir, config=config)

    def predict_assignments(self, input_fn=None, batch_size=None, outputs=None):
        """The class of each point."""
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs)
        return (one[self.ASSIGNMENTS] if isinstance(one, dict) else one for one in found)

    def score(self, input_fn=None, batch_size=None, steps=None):
        """How likely the mixture makes points, as a logarithm."""
        return self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)[self.LOG_LIKELIHOOD]

    def weights(self):
        """The shares of the classes."""
        return self.get_variable_value(gmm_ops.GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self):
        """The means."""
        clusters = self.get_variable_value(gmm_ops.GmmAlgorithm.CLUSTERS_VARIABLE)
        return clusters.reshape(clusters.shape[0], -1)

    def covariances(self):
        return self.get_variable_value(gmm_ops.GmmAlgorithm.CLUSTERS_COVS_VARIABLE)

    def _parse_tensor_or_dict(self, features):
        return array.concat([features[key] for key in sorted(features)], 1) if isinstance(features, dict) else features

    def _model_builder(self):
        def _model_fn(features, labels, mode, config):
            if labels is not None:
                raise ValueError("A mixture has no labels: the input function must give None for them")
            likelihood, scores, assignments, train_op, init_op, is_initialized = gmm_ops.gmm(
                self._parse_tensor_or_dict(features), **self._mixture
            )
            incremented = state.assign_add(get_global_step(), 1)
            loss = likelihood
            summary.scalar("loss", loss)
            with control_dependencies([train_op, incremented]):
                train_op = array.identity(loss, name="train_op")
            return ModelFnOps(
                mode=mode,
                predictions={self.ASSIGNMENTS: assignments[0][0]},
                eval_metric_ops={self.SCORES: _as_metric(scores)},
                loss=loss,
                train_op=train_op,
                training_hooks=[_BeginHook(init_op, is_initialized)],
            )

        return _model_fn


def _as_metric(scores):
    """The sum of scores, which a metric's value and update both are."""
    total = math.reduce_sum(scores)
    return total, total
