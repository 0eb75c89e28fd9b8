"""`KMeans`: clusters of points, found from batches. `tf.contrib.factorization.KMeansClustering` is its older form."""

from __future__ import annotations

import os

import numpy as np

from everflow import metrics
from everflow.estimator.estimator import Estimator
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.spec import EstimatorSpec
from everflow.feature_column.input_layer import input_layer
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.framework.seeds import get_seed
from everflow.ops import array, clustering, math
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.io import summaries
from everflow.ops.variables import assign as state
from everflow.ops.variables.global_step import get_global_step
from everflow.platform.signatures import takes
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


def _takes(seed):
    """Decorator of a constructor: what both forms take, with the parameter that is the seed."""
    return takes(
        f"""num_clusters, model_dir=None, initial_clusters=RANDOM, distance_metric=SQUARED, {seed}, use_mini_batch=True,
        mini_batch_steps_per_iteration=1, kmeans_plus_plus_num_retries=2, relative_tolerance=None, config=None,
        feature_columns=None""",
        RANDOM=clustering.RANDOM_INIT,
        SQUARED=clustering.SQUARED_EUCLIDEAN_DISTANCE,
    )


class KMeans(Estimator):
    """Clusters of points.

    Each `train` goes over what the input function gives; the first batches also choose where the centres begin.

    Args:
        num_clusters: How many clusters.
        model_dir: The folder of checkpoints and event files.
        initial_clusters: `random`, `kmeans_plus_plus`, centres, or a function that gives them.
        distance_metric: `squared_euclidean` or `cosine`.
        seed: A number that makes the random numbers the same in each run of the program.
        use_mini_batch: Whether each step sees a batch; else all data.
        mini_batch_steps_per_iteration: After how many steps centres change.
        kmeans_plus_plus_num_retries: How many points are tried for each centre.
        relative_tolerance: The change of the loss below which it ends.
        config: A `tf.estimator.RunConfig`: where and how to run.
        feature_columns: The feature columns; all features if None.

    Example:
        >>> kmeans = tf.estimator.experimental.KMeans(2, "model")
        >>> kmeans.model_dir
        'model'
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering.COSINE_DISTANCE
    RANDOM_INIT = clustering.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering.CLUSTERS_VAR_NAME

    @_takes("seed=None")
    def __init__(self, seed, **given):
        self._set_up(clustering.KMeans.over_fed_variables, seed, **given)

    def _set_up(self, make_kmeans, seed, model_dir, config, feature_columns, relative_tolerance, **given):
        clustering.check_options(given["initial_clusters"], given["distance_metric"])
        self._distance_metric = given["distance_metric"]

        def model_fn(features, mode):
            points = _points(features, feature_columns)
            kmeans = make_kmeans(points, **given, random_seed=_op_seed(seed))
            distances, indices, losses, initialized, init_op, training_op = kmeans.training_graph()
            loss = math.reduce_sum(losses)
            summaries.scalar("loss/raw", loss)
            train_op = with_dependencies([training_op, state.assign_add(get_global_step(), 1)], loss)
            hooks = [] if relative_tolerance is None else [_RelativeChangeHook(loss, relative_tolerance)]
            outputs = {
                self.ALL_DISTANCES: PredictOutput(distances[0]),
                self.CLUSTER_INDEX: PredictOutput(indices[0]),
                DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(indices[0]),
            }
            return EstimatorSpec(
                mode=mode,
                predictions={self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: indices[0]},
                loss=loss,
                train_op=train_op,
                eval_metric_ops={self.SCORE: metrics.mean(loss)},
                training_hooks=hooks,
                training_chief_hooks=[_ChooseCentersHook(init_op, initialized, self.model_dir)],
                export_outputs=outputs,
            )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)

    def _predicted(self, input_fn, key):
        for result in self.predict(input_fn=input_fn, predict_keys=[key], yield_single_examples=True):
            yield result[key]

    def predict_cluster_index(self, input_fn):
        """The number of the nearest centre, for each point."""
        yield from self._predicted(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn):
        """The sum of the points' distances to their centres."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn):
        """The distances to all centres, for each point."""
        for distances in self._predicted(input_fn, self.ALL_DISTANCES):
            yield np.sqrt(distances) if self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE else distances

    def cluster_centers(self):
        """The centres, a row each."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


class KMeansClustering(KMeans):
    """The form of `tf.contrib.factorization`: `transform` gives squared distances."""

    @_takes("random_seed=0")
    def __init__(self, random_seed, **given):
        self._set_up(clustering.KMeans, random_seed, **given)

    def transform(self, input_fn):
        """The distances (squared, if Euclidean) to all centres, for each point."""
        yield from self._predicted(input_fn, self.ALL_DISTANCES)


def _op_seed(seed):
    graph_seed, op_seed = get_seed(seed)
    return graph_seed if graph_seed is not None else op_seed


def _points(features, feature_columns):
    """A matrix of the features, through columns or side by side in the order of their names."""
    if isinstance(features, dict):
        if feature_columns:
            return input_layer(features, feature_columns)
        keys = sorted(features)
        return array.concat([features[key] for key in keys], axis=1) if len(keys) > 1 else features[keys[0]]
    return features if isinstance(features, list) else convert_to_tensor(features)


class _ChooseCentersHook(SessionRunHook):
    """Chooses centres from the first batches before training begins.

    The first checkpoint is from before that. Where no batch is left for a step there would be no other: so it is saved
    again.
    """

    def __init__(self, init_op, initialized, model_dir):
        self._init_op, self._initialized, self._path = init_op, initialized, os.path.join(model_dir, "model.ckpt")

    def after_create_session(self, session, coord):
        if session.run(self._initialized):
            return
        while not session.run(self._initialized):
            session.run(self._init_op)
        for saver in get_collection(GraphKeys.SAVERS)[:1]:
            saver.save(session, self._path, global_step=session.run(get_global_step()))


class _RelativeChangeHook(SessionRunHook):
    """Stops when the loss changes by less than this part of it."""

    def __init__(self, loss, tolerance):
        self._loss, self._tolerance, self._before = loss, tolerance, None

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        loss, before = run_values.results, self._before
        if before is not None and abs(loss - before) / (1.0 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss
