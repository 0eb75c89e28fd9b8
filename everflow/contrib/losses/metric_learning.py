"""tf.contrib.losses.metric_learning: losses that pull embeddings of equal labels together and push others apart."""

from __future__ import annotations

import functools

from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.io.printing import Print
from everflow.ops.nn.losses import softmax_cross_entropy_with_logits
from everflow.ops.sparse.functions import sparse_minimum, sparse_reduce_sum

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "npairs_loss_multilabel", "triplet_semihard_loss"]

# The l2 term of n-pairs is taken at this strength.
_QUARTER = 0.25


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """The mean of distance² for pairs labelled 1, and of how far pairs labelled 0 are inside the margin, squared."""
    distances = math.sqrt(math.reduce_sum(math.squared_difference(embeddings_anchor, embeddings_positive), 1))
    together = math.cast(labels, dtypes.float32) * math.square(distances)
    apart = (1.0 - math.cast(labels, dtypes.float32)) * math.square(math.maximum(margin - distances, 0.0))
    return math.reduce_mean(together + apart, name="contrastive_loss")


def _pairwise_distance(feature, squared=False):
    """The distances between all rows, with zeros on the diagonal."""
    of_rows = math.reduce_sum(math.square(feature), axis=[1], keepdims=True)
    of_columns = math.reduce_sum(math.square(array.transpose(feature)), axis=[0], keepdims=True)
    squares = math.maximum(math.add(of_rows, of_columns) - 2.0 * math.matmul(feature, array.transpose(feature)), 0.0)
    is_zero = math.less_equal(squares, 0.0)
    # The root's gradient at zero is infinite; a little more than zero keeps it finite until the mask below.
    distances = squares if squared else math.sqrt(squares + math.cast(is_zero, dtypes.float32) * 1e-16)
    apart = math.multiply(distances, math.cast(math.logical_not(is_zero), dtypes.float32))
    size = array.shape(feature)[0]
    return math.multiply(apart, array.ones_like(apart) - array.diag(array.ones([size])))


def _column(labels):
    """The labels of shape [n] as one of shape [n, 1]."""
    shape = array.shape(labels)
    if shape.shape.as_list() != [1]:
        raise AssertionError(f"labels should have one dimension, got shape {getattr(labels, 'shape', labels)}")
    return array.reshape(labels, [shape[0], 1])


def _masked_maximum(data, mask, dim=1):
    lowest = math.reduce_min(data, dim, keepdims=True)
    return math.reduce_max(math.multiply(data - lowest, mask), dim, keepdims=True) + lowest


def _masked_minimum(data, mask, dim=1):
    highest = math.reduce_max(data, dim, keepdims=True)
    return math.reduce_min(math.multiply(data - highest, mask), dim, keepdims=True) + highest


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """The triplet loss with semi-hard negatives: of each pair, the nearest other that is farther than the pair.

    Where there is none, the farthest of the others stands in. `embeddings` should have rows of length one.
    """
    column = _column(labels)
    distances = _pairwise_distance(embeddings, squared=True)
    equal = math.equal(column, array.transpose(column))
    different = math.logical_not(equal)
    size = array.size(column)
    tiled = array.tile(distances, [size, 1])
    tiles = array.tile(different, [size, 1])
    farther = math.logical_and(tiles, math.greater(tiled, array.reshape(array.transpose(distances), [-1, 1])))
    some = math.greater(math.reduce_sum(math.cast(farther, dtypes.float32), 1, keepdims=True), 0.0)
    some = array.transpose(array.reshape(some, [size, size]))
    different = math.cast(different, dtypes.float32)
    farther = math.cast(farther, dtypes.float32)
    outside = array.transpose(array.reshape(_masked_minimum(tiled, farther), [size, size]))
    inside = array.tile(_masked_maximum(distances, different), [1, size])
    semi_hard = array.where(some, outside, inside)
    losses = math.add(margin, distances - semi_hard)
    positives = math.cast(equal, dtypes.float32) - array.diag(array.ones([size]))
    count = math.reduce_sum(positives)
    total = math.reduce_sum(math.maximum(math.multiply(losses, positives), 0.0))
    return math.truediv(total, count, name="triplet_semihard_loss")


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """The lifted structured loss: each pair of equal labels against all others within the margin of either, smoothly."""
    column = _column(labels)
    distances = _pairwise_distance(embeddings)
    equal = math.equal(column, array.transpose(column))
    different = math.logical_not(equal)
    size = array.size(column)
    nearness = margin - distances
    different = math.cast(different, dtypes.float32)
    highest = _masked_maximum(nearness, different)
    highest = math.maximum(highest, array.transpose(highest))
    tiled = array.tile(nearness, [size, 1])
    mask = array.tile(different, [size, 1])
    vector = array.reshape(array.transpose(highest), [-1, 1])
    sums = math.reduce_sum(math.multiply(math.exp(tiled - vector), mask), 1, keepdims=True)
    sums = array.reshape(sums, [size, size])
    losses = highest + math.log(sums + array.transpose(sums))
    losses = losses + distances
    positives = math.cast(equal, dtypes.float32) - array.diag(array.ones([size]))
    # Each pair is there twice.
    pairs = math.reduce_sum(positives) / 2.0
    squares = math.square(math.maximum(math.multiply(losses, positives), 0.0))
    return math.truediv(0.25 * math.reduce_sum(squares), pairs, name="liftedstruct_loss")


def _npairs(embeddings_anchor, embeddings_positive, reg_lambda, print_losses, similarity_of_labels):
    reg_anchor = math.reduce_mean(math.reduce_sum(math.square(embeddings_anchor), 1))
    reg_positive = math.reduce_mean(math.reduce_sum(math.square(embeddings_positive), 1))
    l2loss = math.multiply(_QUARTER * reg_lambda, reg_anchor + reg_positive, name="l2loss")
    logits = math.matmul(embeddings_anchor, embeddings_positive, transpose_a=False, transpose_b=True)
    labels = similarity_of_labels()
    labels = labels / math.reduce_sum(labels, 1, keepdims=True)
    losses = softmax_cross_entropy_with_logits(logits=logits, labels=labels)
    xentropy = math.reduce_mean(losses, name="xentropy")
    if print_losses:
        xentropy = Print(xentropy, ["cross entropy:", xentropy, "l2loss:", l2loss])
    return l2loss + xentropy


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """Cross entropy of which positive belongs to which anchor, row i of one to row i of the other, and an l2 term."""

    def similarity():
        column = _column(labels)
        return math.cast(math.equal(column, array.transpose(column)), dtypes.float32)

    return _npairs(embeddings_anchor, embeddings_positive, reg_lambda, print_losses, similarity)


def npairs_loss_multilabel(sparse_labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """As `npairs_loss` for several labels a row, SparseTensors of ones; rows with common labels are similar."""
    with name_scope("NpairsLossMultiLabel"):
        similarity = functools.partial(_shared_labels, sparse_labels)
        return _npairs(embeddings_anchor, embeddings_positive, reg_lambda, print_losses, similarity)


def _shared_labels(labels):
    """How many labels the rows have in common, for each two of them."""
    count = len(labels)
    result = array.zeros([count, count], dtypes.float32)
    for i, row in enumerate(labels):
        for j, other in enumerate(labels):
            shared = math.cast(sparse_reduce_sum(sparse_minimum(row, other)), dtypes.float32)
            entry = array.expand_dims(array.expand_dims(shared, 0), 0)
            result += array.pad(entry, [[i, count - i - 1], [j, count - j - 1]])
    return result
