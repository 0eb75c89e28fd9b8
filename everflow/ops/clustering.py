"""k-means as a graph: centres that are chosen from the first batches, and an op that moves them to the points of a
batch.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import colocate_with, control_dependencies
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.control_flow import cond, while_loop
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.math.segments import unsorted_segment_sum
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.nn.normalization import l2_normalize
from everflow.ops.random.distributions import random_uniform
from everflow.ops.shape_rules import scalar_output
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import Variable

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"

CLUSTERS_VAR_NAME = "clusters"


def check_options(initial_clusters, distance_metric):
    """ValueError for ways to begin and distances that there are not."""
    if isinstance(initial_clusters, str) and initial_clusters not in (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT):
        raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError(f"Unsupported distance metric '{distance_metric}'")


class KMeans:
    """Clusters of the rows of matrices.

    With `use_mini_batch` the centres move towards the points of each batch; else each step replaces them by the means
    of its points.

    >>> kmeans = tf.contrib.factorization.KMeans(x, num_clusters=10, use_mini_batch=True)
    >>> scores, clusters, distances, initialized, init_op, train_op = kmeans.training_graph()
    """

    def __init__(self, inputs, num_clusters, initial_clusters=RANDOM_INIT, distance_metric=SQUARED_EUCLIDEAN_DISTANCE, use_mini_batch=False,
                 mini_batch_steps_per_iteration=1, random_seed=0, kmeans_plus_plus_num_retries=2, kmc2_chain_length=200):  # fmt: skip
        check_options(initial_clusters, distance_metric)
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._steps = int(mini_batch_steps_per_iteration)
        self._seed = random_seed
        self._retries = kmeans_plus_plus_num_retries
        self._chain_length = kmc2_chain_length
        self._begin = lambda: constant([], dtype=dtypes.float32)

    @classmethod
    def over_fed_variables(cls, *args, **kwargs):
        """The same with centres whose first value can be fed."""
        made = cls(*args, **kwargs)
        made._begin = lambda: array.placeholder_with_default(
            constant([], name="PlaceholderWithDefault/input"), shape=None
        )
        return made

    def training_graph(self):
        """(all distances, clusters, distances to them, whether centres are chosen, op that chooses some, op of a step);
        the first three are
        tuples with an entry for each input."""
        initial, num_clusters = self._initial_centers()
        variables = self._variables(num_clusters)
        centers, initialized, counts, updated, update_in_steps = variables
        choose = _Initialization(self, initial, num_clusters, centers, updated, initialized).op()
        inputs = self._inputs
        if self._cosine:
            inputs = [_normalized(x) for x in inputs]
        all_scores, scores, indices = zip(*self._infer(inputs, centers))
        if self._use_mini_batch:
            train = self._move(inputs, indices, centers, updated, counts, update_in_steps)
        else:
            train = self._replace(inputs, num_clusters, indices, centers)
        return all_scores, indices, scores, initialized, choose, train

    def _initial_centers(self):
        """(the centres to begin with, or how to find them; how many there will be)."""
        initial = self._initial_clusters
        if isinstance(initial, str):
            return initial, convert_to_tensor(self._num_clusters)
        if callable(initial):
            return initial, convert_to_tensor(self._num_clusters)
        initial = convert_to_tensor(initial)
        return initial, array.shape(initial)[0]

    def _variables(self, num_clusters):
        begin = self._begin()
        centers = Variable(begin, name=CLUSTERS_VAR_NAME, validate_shape=False)
        initialized = Variable(False, dtype=dtypes.bool, name="initialized")
        if not (self._use_mini_batch and self._steps > 1):
            counts = Variable(array.ones([num_clusters], dtype=dtypes.int64)) if self._use_mini_batch else None
            return centers, initialized, counts, centers, None
        # Copies that are updated in each step, and become the centres after some steps.
        updated = Variable(begin, name="clusters_updated", validate_shape=False)
        update_in_steps = Variable(self._steps, dtype=dtypes.int64, name="update_in_steps")
        counts = Variable(array.zeros([num_clusters], dtype=dtypes.int64))
        return centers, initialized, counts, updated, update_in_steps

    def _normalized_already(self):
        """Whether centres are kept on the unit sphere."""
        return self._cosine and (not self._use_mini_batch or self._steps > 1)

    def _infer(self, inputs, centers):
        """(all distances, distance to the nearest centre, its number) for each input."""
        if self._cosine and not self._normalized_already():
            centers = l2_normalize(centers, dim=1)
        scores = []
        for x in inputs:
            with colocate_with(x, ignore_existing=True):
                scores.append(_cosine_distances(x, centers) if self._cosine else _squared_distances(x, centers))
        if self._cosine and not self._normalized_already():
            centers = _normalized(centers)
        for x, score in zip(inputs, scores):
            with colocate_with(x, ignore_existing=True):
                indices, distances = raw.NearestNeighbors(x, centers, 1)
                if self._cosine:
                    distances *= 0.5
                yield score, array.squeeze(distances, [-1]), array.squeeze(indices, [-1])

    def _move(self, inputs, indices, centers, updated, counts, update_in_steps):
        """The op of a step that moves centres by what a batch says."""
        begin = no_op() if self._steps <= 1 else self._next_iteration(centers, updated, counts, update_in_steps)
        done = [begin]
        with control_dependencies([begin]):
            for x, index in zip(inputs, indices):
                with colocate_with(x, ignore_existing=True):
                    done.extend(_pulls(x, index, updated, counts))
        return group(*done)

    def _next_iteration(self, centers, updated, counts, update_in_steps):
        """After enough steps the copies become the centres."""

        def begin_anew():
            with control_dependencies([state.assign(update_in_steps, self._steps - 1)]):
                new = _normalized(updated) if self._cosine else updated
                with colocate_with(centers, ignore_existing=True), control_dependencies([state.assign(centers, new)]):
                    with colocate_with(None, ignore_existing=True):
                        with control_dependencies([state.assign(counts, array.zeros_like(counts))]):
                            return array.identity(update_in_steps)

        with colocate_with(update_in_steps, ignore_existing=True):
            return cond(math.less_equal(update_in_steps, 0), begin_anew, lambda: state.assign_sub(update_in_steps, 1))

    def _replace(self, inputs, num_clusters, indices, centers):
        """The op of a step that puts centres where the means of a batch are."""
        sums, counts = [], []
        epsilon = constant(1e-6, dtype=inputs[0].dtype)
        for x, index in zip(inputs, indices):
            with colocate_with(x, ignore_existing=True):
                sums.append(unsorted_segment_sum(x, index, num_clusters))
                ones = array.reshape(array.ones(array.reshape(array.shape(x)[0], [-1])), [-1, 1])
                counts.append(unsorted_segment_sum(ones, index, num_clusters))
        with colocate_with(centers, ignore_existing=True):
            means = math.add_n(sums) / (math.cast(math.add_n(counts), sums[0].dtype) + epsilon)
            if self._cosine:
                means = l2_normalize(means, dim=1)
        return state.assign(centers, means)


def _normalized(x):
    with colocate_with(x, ignore_existing=True):
        return l2_normalize(x, dim=1)


def _squared_distances(x, centers):
    return (
        math.reduce_sum(math.square(x), 1, keepdims=True)
        - 2 * math.matmul(x, centers, transpose_b=True)
        + array.transpose(math.reduce_sum(math.square(centers), 1, keepdims=True))
    )


def _cosine_distances(x, centers):
    return 1 - math.matmul(x, centers, transpose_b=True)


def _pulls(x, index, updated, counts):
    """Ops that pull centres to the points of a batch; the more points a centre has had, the less."""
    ids, positions = array.unique(array.reshape(index, [-1]))
    num_ids = array.size(ids)
    with colocate_with(counts, ignore_existing=True):
        old_counts = array.gather(counts, ids)
    with colocate_with(updated, ignore_existing=True):
        old_centers = array.gather(updated, ids)
    new_counts = unsorted_segment_sum(array.ones_like(positions, dtype=counts.dtype), positions, num_ids)
    pulls = unsorted_segment_sum(x, positions, num_ids)
    column = array.concat(
        [array.reshape(num_ids, [1]), array.ones(array.reshape(array.rank(x) - 1, [1]), dtype=dtypes.int32)], 0
    )
    pulls -= math.cast(array.reshape(new_counts, column), x.dtype) * old_centers
    pulls *= array.reshape(math.reciprocal(math.cast(old_counts + new_counts, x.dtype)), column)
    with colocate_with(counts, ignore_existing=True):
        counted = state.scatter_add(counts, ids, new_counts)
    with colocate_with(updated, ignore_existing=True):
        return counted, state.scatter_add(updated, ids, pulls)


class _Initialization:
    """How centres are chosen: some from each of the first batches, until there are enough."""

    def __init__(self, kmeans, initial, num_clusters, centers, updated, initialized):
        self._kmeans, self._initial, self._num_clusters = kmeans, initial, num_clusters
        self._centers, self._updated, self._initialized = centers, updated, initialized
        self._inputs = kmeans._inputs

    def op(self):
        self._selected = array.shape(self._centers)[0]
        self._remaining = self._num_clusters - self._selected
        self._num_data = math.add_n([array.shape(x)[0] for x in self._inputs])
        return cond(
            math.equal(self._remaining, 0), lambda: check.assert_equal(self._initialized, True), self._initialize
        )

    def _initialize(self):
        with control_dependencies([check.assert_positive(self._remaining)]):
            by_chains = isinstance(self._initial, str) and self._initial == KMC2_INIT
            remaining = self._chains() if by_chains else self._add(self._chosen())
            return cond(math.equal(remaining, 0), lambda: state.assign(self._initialized, True), no_op)

    def _add(self, new_centers):
        if self._kmeans._cosine:
            new_centers = l2_normalize(new_centers, dim=1)
        # Without centres the variable has no columns yet.
        together = cond(
            math.equal(self._selected, 0), lambda: new_centers, lambda: array.concat([self._centers, new_centers], 0)
        )
        assigned = state.assign(self._centers, together, validate_shape=False)
        if self._updated is not self._centers:
            assigned = state.assign(self._updated, assigned, validate_shape=False)
        return self._num_clusters - array.shape(assigned)[0]

    def _chosen(self):
        if not isinstance(self._initial, str):
            if callable(self._initial):
                return self._initial(self._inputs, self._remaining)
            given = array.shape(self._initial)[0]
            with control_dependencies([check.assert_equal(self._remaining, given)]):
                return self._initial
        if self._initial == RANDOM_INIT:
            few = math.less_equal(self._num_data, self._remaining)
            return cond(few, lambda: array.concat(self._inputs, 0), self._random)
        with control_dependencies([check.assert_greater_equal(self._num_data, self._remaining)]):
            # Only the first input is looked at.
            points = l2_normalize(self._inputs[0], dim=1) if self._kmeans._cosine else self._inputs[0]
            wanted = math.cast(self._remaining, dtypes.int64)
            return raw.KmeansPlusPlusInitialization(points, wanted, self._kmeans._seed or 0, self._kmeans._retries)

    def _random(self):
        indices = random_uniform(
            array.reshape(self._remaining, [-1]),
            minval=0,
            maxval=math.cast(self._num_data, dtypes.int64),
            seed=self._kmeans._seed,
            dtype=dtypes.int64,
        )
        return embedding_lookup(self._inputs, indices, partition_strategy="div")

    def _chains(self):
        """Each centre is the end of a chain over the next points of the first input."""
        points, length = self._inputs[0], self._kmeans._chain_length
        if self._kmeans._cosine:
            points = l2_normalize(points, dim=1)
        chains = math.cast(array.shape(points)[0] / length, dtypes.int32)
        rounds = math.maximum(math.minimum(self._remaining, chains), 1)

        def first():
            return array.reshape(points[0], [1, -1])

        def next_center(i):
            start = i * length
            part = points[start : start + length]
            _, distances = raw.NearestNeighbors(part, self._centers, 1)
            index = raw.KMC2ChainInitialization(array.squeeze(distances), self._kmeans._seed or 0)
            return array.concat([self._centers, array.reshape(part[index], [1, -1])], 0)

        def body(i, _):
            together = cond(math.equal(self._selected, 0), first, lambda: next_center(i))
            assigned = state.assign(self._centers, together, validate_shape=False)
            if self._updated is not self._centers:
                assigned = state.assign(self._updated, assigned, validate_shape=False)
            return i + 1, self._num_clusters - array.shape(assigned)[0]

        return while_loop(lambda i, _: math.less(i, rounds), body, [0, 0])[1]


# --- shapes -----------------------------------------------------------------------------------


@shape_rule("NearestNeighbors", "KmeansPlusPlusInitialization")
def _unknown_shape(op):
    return [TensorShape(None) for _ in op.outputs] if op.type == "NearestNeighbors" else TensorShape(None)


shape_rule("KMC2ChainInitialization")(scalar_output)
