"""Losses over a few sampled classes out of many, and the candidate samplers that choose these."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.seeds import get_seed
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from everflow.ops.sparse.functions import sparse_to_dense
from everflow.ops.variables.partitioned import PartitionedVariable


def _seeds(seed) -> dict:
    first, second = get_seed(seed)
    return {"seed": first or 0, "seed2": second or 0}


_SAMPLER = """Sample classes, {meaning}.

Args:
    true_classes: The true classes of each row: [batch, num_true].
    num_true: How many true classes a row has.
    num_sampled: How many classes are sampled.
    unique: Whether a class is sampled once at most.{range_max}
    seed: A number that makes the random numbers the same in each run of the program.
    name: The name of the operation in the graph.

Returns:
    A named tuple: the sampled classes, and how often the true and the sampled ones are to be expected.

Example:
    >>> sampled, true_expected, sampled_expected = tf.nn.{name}([[1], [3]], 1, 5, True{last})
    >>> sorted(sess.run(sampled).tolist())
    [0, 1, 2, 3, 4]
"""
_RANGE_MAX = "\n    range_max: How many classes there are."


def _sampler(op_type, function_name, meaning, ranged=True):
    """A build function with TensorFlow's signature for one kind of sampler."""

    def draw(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
        return getattr(raw, op_type)(
            true_classes=true_classes,
            num_true=num_true,
            num_sampled=num_sampled,
            unique=unique,
            range_max=range_max,
            name=name,
            **_seeds(seed),
        )

    def draw_all(true_classes, num_true, num_sampled, unique, seed=None, name=None):
        return getattr(raw, op_type)(
            true_classes=true_classes,
            num_true=num_true,
            num_sampled=num_sampled,
            unique=unique,
            name=name,
            **_seeds(seed),
        )

    build = draw if ranged else draw_all
    build.__name__ = build.__qualname__ = function_name
    build.__doc__ = _SAMPLER.format(
        meaning=meaning, name=function_name, range_max=_RANGE_MAX if ranged else "", last=", 5" if ranged else ""
    )
    return build


uniform_candidate_sampler = _sampler(
    "UniformCandidateSampler", "uniform_candidate_sampler", "each as probable as the others"
)
log_uniform_candidate_sampler = _sampler(
    "LogUniformCandidateSampler",
    "log_uniform_candidate_sampler",
    "frequent ones first, as words sorted by frequency are",
)
learned_unigram_candidate_sampler = _sampler(
    "LearnedUnigramCandidateSampler", "learned_unigram_candidate_sampler", "as often as they were seen as true classes"
)
all_candidate_sampler = _sampler("AllCandidateSampler", "all_candidate_sampler", "all of them", ranged=False)


def fixed_unigram_candidate_sampler(
    true_classes,
    num_true,
    num_sampled,
    unique,
    range_max,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=1,
    shard=0,
    unigrams=(),
    seed=None,
    name=None,
):
    """Sample classes by weights given in a list or in the last fields of a file's lines, each to the power
    `distortion`.

    Args:
        true_classes: The true classes of each row: [batch, num_true].
        num_true: How many true classes a row has.
        num_sampled: How many classes are sampled.
        unique: Whether a class is sampled once at most.
        range_max: How many classes there are.
        vocab_file: A file whose lines end with a comma and a weight.
        distortion: The power that weights are taken to.
        num_reserved_ids: How many classes at the start are never sampled.
        num_shards: How many parts the classes are divided into.
        shard: Which part is sampled from.
        unigrams: The weights, where there is no file.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        A named tuple: the sampled classes, and how often the true and the sampled ones are to be expected.

    Example:
        >>> sampled, _, _ = tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 3, unigrams=[0.0, 1.0, 0.0])
        >>> sess.run(sampled)
        array([1])
    """
    return raw.FixedUnigramCandidateSampler(**{**locals(), **_seeds(seed)})


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where sampled classes are true ones: rows, places in the sample, and weights that cancel their logits.

    Args:
        true_classes: The true classes of each row: [batch, num_true].
        sampled_candidates: The sampled classes.
        num_true: How many true classes a row has.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The name of the operation in the graph.

    Returns:
        Rows, places in the sample, and weights.

    Example:
        >>> sess.run(tf.nn.compute_accidental_hits([[3], [5]], [5, 1], 1))[:2]
        (array([1], dtype=int32), array([0]))
    """
    return raw.ComputeAccidentalHits(**{**locals(), **_seeds(seed)})


def _sum_rows(x):
    """The sum of each row, by a matrix product: its gradient is one, too."""
    columns = array.shape(x)[1]
    ones = array.ones(array.stack([columns, 1]), x.dtype)
    return array.reshape(math_ops.matmul(x, ones), [-1])


def sampled_logits(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    subtract_log_q=True,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name=None,
    seed=None,
):
    """Logits and labels of the true classes, then of the sampled ones."""
    if isinstance(weights, PartitionedVariable):
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        if labels.dtype != dtypes.int64:
            labels = math_ops.cast(labels, dtypes.int64)
        labels_flat = array.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
                seed=seed,
            )
        sampled, true_expected, sampled_expected = (array.stop_gradient(value) for value in sampled_values)
        sampled = math_ops.cast(sampled, dtypes.int64)

        all_ids = array.concat([labels_flat, sampled], 0)
        all_weights = _looked_up(weights, all_ids, partition_strategy, inputs.dtype)
        true_weights = array.slice_(all_weights, [0, 0], array.stack([array.shape(labels_flat)[0], -1]))
        sampled_weights = array.slice_(all_weights, array.stack([array.shape(labels_flat)[0], 0]), [-1, -1])
        other_logits = math_ops.matmul(inputs, sampled_weights, transpose_b=True)

        all_biases = _looked_up(biases, all_ids, partition_strategy, inputs.dtype)
        true_biases = array.slice_(all_biases, [0], array.shape(labels_flat))
        sampled_biases = array.slice_(all_biases, array.shape(labels_flat), [-1])

        true_logits = _true_logits(inputs, true_weights, num_true)
        true_biases = array.reshape(true_biases, [-1, num_true])
        true_logits += true_biases
        other_logits += sampled_biases

        if remove_accidental_hits:
            other_logits += _minus_hits(labels, sampled, num_true, num_sampled, other_logits)
        if subtract_log_q:
            true_logits -= math_ops.log(true_expected)
            other_logits -= math_ops.log(sampled_expected)

        logits = array.concat([true_logits, other_logits], 1)
        out_labels = array.concat([array.ones_like(true_logits) / num_true, array.zeros_like(other_logits)], 1)
        return logits, out_labels


def _looked_up(params, ids, partition_strategy, dtype):
    found = embedding_lookup(params, ids, partition_strategy=partition_strategy)
    return found if found.dtype == dtype else math_ops.cast(found, dtype)


def _true_logits(inputs, weights, num_true):
    """The product of each input with the weights of each of its true classes."""
    width = array.shape(weights)[1:2]
    rows = array.concat([[-1, num_true], width], 0)
    products = math_ops.multiply(array.expand_dims(inputs, 1), array.reshape(weights, rows))
    as_matrix = array.reshape(products, array.concat([[-1], width], 0))
    return array.reshape(_sum_rows(as_matrix), [-1, num_true])


def _minus_hits(labels, sampled, num_true, num_sampled, sampled_logits):
    """A matrix with the lowest number where a sampled class is a true one, zero elsewhere."""
    rows, places, hit_weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    row_column = array.reshape(rows, [-1, 1])
    place_column = array.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    indices = array.concat([row_column, place_column], 1, "sparse_indices")
    shape = array.concat([array.shape(labels)[:1], array.expand_dims(num_sampled, 0)], 0)
    if sampled_logits.dtype != hit_weights.dtype:
        hit_weights = math_ops.cast(hit_weights, sampled_logits.dtype)
    return sparse_to_dense(indices, shape, hit_weights, default_value=0.0, validate_indices=False)


def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name="nce_loss",
):
    """Noise-contrastive estimation: tell the true classes from sampled ones. One loss a row.

    Args:
        weights: The weights of the classes: [classes, dim], or a list of parts.
        biases: The biases of the classes.
        labels: The true classes: [batch, num_true].
        inputs: What the layer before gives: [batch, dim].
        num_sampled: How many classes are sampled.
        num_classes: How many classes there are.
        num_true: How many true classes a row has.
        sampled_values: What a candidate sampler gave; `log_uniform_candidate_sampler` if None.
        remove_accidental_hits: Whether sampled classes that are true ones don't count.
        partition_strategy: How classes are spread over parts: `mod` or `div`.
        name: The name of the operation in the graph.

    Returns:
        A loss for each row.

    Example:
        >>> weights, biases = tf.zeros([10, 4]), tf.zeros([10])
        >>> labels = tf.constant([[3], [5]])
        >>> sess.run(tf.nn.nce_loss(weights, biases, labels, tf.ones([2, 4]), num_sampled=2, num_classes=10)).shape
        (2,)
    """
    logits, labels = sampled_logits(subtract_log_q=True, **locals())
    losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="sampled_losses")
    return _sum_rows(losses)


def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_softmax_loss",
    seed=None,
):
    """The softmax cross entropy over the true and a few sampled classes, for training with very many.

    Args:
        weights: The weights of the classes: [classes, dim], or a list of parts.
        biases: The biases of the classes.
        labels: The true classes: [batch, num_true].
        inputs: What the layer before gives: [batch, dim].
        num_sampled: How many classes are sampled.
        num_classes: How many classes there are.
        num_true: How many true classes a row has.
        sampled_values: What a candidate sampler gave; `log_uniform_candidate_sampler` if None.
        remove_accidental_hits: Whether sampled classes that are true ones don't count.
        partition_strategy: How classes are spread over parts: `mod` or `div`.
        name: The name of the operation in the graph.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A loss for each row.

    Example:
        >>> weights, biases = tf.zeros([10, 4]), tf.zeros([10])
        >>> labels = tf.constant([[3], [5]])
        >>> sess.run(tf.nn.sampled_softmax_loss(weights, biases, labels, tf.ones([2, 4]), 2, 10)).shape
        (2,)
    """
    logits, labels = sampled_logits(subtract_log_q=True, **locals())
    labels = array.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)


_SAMPLERS = (
    "UniformCandidateSampler",
    "LogUniformCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
    "FixedUnigramCandidateSampler",
    "AllCandidateSampler",
)


@shape_rule(*_SAMPLERS)
def _sampler_shape(op):
    true = op.inputs[0].shape.with_rank(2)
    sampled = TensorShape([op.attrs["num_sampled"]])
    return [sampled, TensorShape([true.dims[0], op.attrs["num_true"]]), sampled]


@shape_rule("ComputeAccidentalHits")
def _hits_shape(op):
    op.inputs[0].shape.with_rank(2).dims[1].assert_is_compatible_with(op.attrs["num_true"])
    op.inputs[1].shape.with_rank(1)
    return [TensorShape([None])] * 3
