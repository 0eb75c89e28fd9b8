"""A mask for weights, the threshold it was made with, and the collections in which pruning finds both."""

from __future__ import annotations

from everflow.framework.scopes import add_to_collection, get_collection
from everflow.ops import math
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes

MASKS, THRESHOLDS, MASKED_WEIGHTS, WEIGHTS = "masks", "thresholds", "masked_weights", "kernel"
_MASKED_NAME = "weights/masked_weight"


def collect(weights, mask, threshold):
    """Weights times mask; all of them are put into pruning's collections."""
    masked = math.multiply(mask, weights, _MASKED_NAME)
    for name, element in ((MASKS, mask), (MASKED_WEIGHTS, masked), (THRESHOLDS, threshold), (WEIGHTS, weights)):
        if all(element is not other for other in get_collection(name)):
            add_to_collection(name, element)
    return masked


def apply_mask(x, scope=""):
    """Weights times a mask of ones, made in a variable scope, that pruning will make sparse.

    >>> y = tf.matmul(x, tf.contrib.model_pruning.apply_mask(weights, scope="layer1"))
    """
    mask = _variable("mask", scope, x.shape, initializers.ones_initializer(), x.dtype.base_dtype)
    threshold = _variable("threshold", scope, [], initializers.zeros_initializer(), x.dtype.base_dtype)
    return collect(x, mask, threshold)


def _variable(name, scope, shape, initializer, dtype):
    with scopes.variable_scope(scope):
        return scopes.get_variable(name, shape, initializer=initializer, trainable=False, dtype=dtype)


def _reader(name, collection, doc):
    def read():
        return get_collection(collection)

    read.__name__ = read.__qualname__ = name
    read.__doc__ = doc
    return read


get_masked_weights = _reader("get_masked_weights", MASKED_WEIGHTS, "The products of weights and masks.")
get_masks = _reader("get_masks", MASKS, "The masks.")
get_thresholds = _reader("get_thresholds", THRESHOLDS, "The thresholds that the masks were made with.")
get_weights = _reader("get_weights", WEIGHTS, "The weights that have masks.")


def get_weight_sparsity():
    """The share of zeros of each mask."""
    return [nn.zero_fraction(mask) for mask in get_masks()]
