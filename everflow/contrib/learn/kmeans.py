"""k-means as an estimator of tf.contrib.learn."""

from __future__ import annotations

import numpy as np

from everflow import summary
from everflow.contrib.learn.estimator import Estimator
from everflow.contrib.learn.model_ops import ModelFnOps
from everflow.estimator.canned.kmeans import _ChooseCentersHook as ChooseCentersHook
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, clustering, math
from everflow.ops.variables import assign as state
from everflow.ops.variables.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class _EnoughHook(SessionRunHook):
    """Ends training when the loss changes by less than a part of it."""

    def __init__(self, tolerance, loss):
        self._tolerance, self._loss, self._before = tolerance, loss, None

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        loss, before = run_values.results, self._before
        self._before = loss
        if before is not None and abs(loss - before) / (abs(before) + 1e-6) < self._tolerance:
            run_context.request_stop()


class KMeansClustering(Estimator):
    """Clusters of points.

    >>> kmeans = tf.contrib.learn.KMeansClustering(num_clusters=5)
    >>> kmeans.fit(input_fn=lambda: (tf.constant(points), None), steps=10)
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering.COSINE_DISTANCE
    RANDOM_INIT = clustering.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters,
        model_dir=None,
        initial_clusters="random",
        distance_metric="squared_euclidean",
        random_seed=0,
        use_mini_batch=True,
        mini_batch_steps_per_iteration=1,
        kmeans_plus_plus_num_retries=2,
        relative_tolerance=None,
        config=None,
    ):
        self._relative_tolerance = relative_tolerance
        self._settings = (
            num_clusters,
            initial_clusters,
            distance_metric,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            random_seed,
            kmeans_plus_plus_num_retries,
        )
        clustering.check_options(initial_clusters, distance_metric)
        super().__init__(model_fn=self._model_fn, model_dir=model_dir, config=config)

    def predict_cluster_idx(self, input_fn=None):
        """The number of each point's cluster."""
        return (one[self.CLUSTER_IDX] for one in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]))

    def score(self, input_fn=None, steps=None):
        """The sum of the points' squared distances, or cosines, to their clusters."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn=None, as_iterable=False):
        """The distances of points to all clusters."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return (one[self.ALL_SCORES] for one in found) if as_iterable else found[self.ALL_SCORES]

    def clusters(self):
        """The centres."""
        return self.get_variable_value(self.CLUSTERS)

    def _model_fn(self, features, labels, mode, config):
        if isinstance(features, dict):
            features = array.concat([features[key] for key in sorted(features)], 1)
        scores, clusters, distances, initialized, init_op, train_op = clustering.KMeans(
            features, *self._settings
        ).training_graph()
        loss = math.reduce_sum(distances[0], name=self.LOSS_OP_NAME)
        summary.scalar("loss/raw", loss)
        incremented = state.assign_add(get_global_step(), 1)
        with control_dependencies([train_op, incremented]):
            train_op = array.identity(loss, name="train_op")
        hooks = [ChooseCentersHook(init_op, initialized, self.model_dir)]
        if self._relative_tolerance is not None:
            hooks.append(_EnoughHook(self._relative_tolerance, loss))
        return ModelFnOps(
            mode,
            predictions={self.ALL_SCORES: scores[0], self.CLUSTER_IDX: clusters[0]},
            eval_metric_ops={self.SCORES: (loss, loss)},
            loss=loss,
            train_op=train_op,
            training_hooks=hooks,
        )
