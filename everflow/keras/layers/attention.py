"""Attention: values weighted by how well keys fit queries."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras.layers.configured import ConfiguredLayer, keeps
from everflow.ops import array, math
from everflow.ops.nn import activations as nn


class BaseDenseAttention(ConfiguredLayer):
    """Base of attention layers: subclasses say in `_calculate_scores(query, key)` how well they fit.

    Inputs are [query, value] or [query, value, key]; masks are those of the query and the value.
    """

    def __init__(self, causal=False, **kwargs):
        super().__init__(**kwargs)
        self._keep(causal=causal)
        self.supports_masking = True

    def _calculate_scores(self, query, key):
        raise NotImplementedError

    def call(self, inputs, mask=None):
        self._check(inputs, mask)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._calculate_scores(query=query, key=key)
        visible = array.expand_dims(value_mask, axis=-2) if value_mask is not None else None
        if self.causal:
            # No place sees what comes after it.
            sizes = array.shape(scores)
            lower = _lower_triangular_mask(array.concat([array.ones_like(sizes[:-2]), sizes[-2:]], axis=0))
            visible = _merge_masks(visible, lower)
        result = self._apply_scores(scores=scores, value=value, scores_mask=visible)
        if query_mask is not None:
            result *= math.cast(array.expand_dims(query_mask, axis=-1), result.dtype)
        return result

    def _apply_scores(self, scores, value, scores_mask=None):
        """Values weighted by scores, where a mask lets them be seen."""
        if scores_mask is not None:
            scores -= 1.0e9 * math.cast(math.logical_not(scores_mask), scores.dtype)
        return math.matmul(nn.softmax(scores), value)

    def compute_mask(self, inputs, mask=None):
        self._check(inputs, mask)
        return mask[0] if mask else None

    def _check(self, inputs, mask):
        forms = {"inputs": "[query, value] or [query, value, key]", "mask": "[query_mask, value_mask]"}
        longest = {"inputs": 3, "mask": len(inputs) if isinstance(inputs, list) else 0}
        for what, given in (("inputs", inputs), *([("mask", mask)] if mask else [])):
            if not isinstance(given, list) or not 2 <= len(given) <= longest[what]:
                raise ValueError(f"The {what} of {type(self).__name__} must be a list, {forms[what]}, not {given}.")


def _merge_masks(x, y):
    """Where both masks let values be seen; None lets all."""
    if x is None or y is None:
        return y if x is None else x
    return math.logical_and(x, y)


def _lower_triangular_mask(shape):
    """True on the diagonal of the last two dimensions and below."""
    ones = array.ones(shape=shape, dtype="int32")
    return math.greater_equal(math.cumsum(ones, axis=-2), math.cumsum(ones, axis=-1))


@keeps("use_scale=False")
class Attention(BaseDenseAttention):
    """Scores are dot products of queries and keys.

    Args:
        use_scale: Whether scores are multiplied by a learned number.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> query, value = tf.ones([2, 4, 3]), tf.ones([2, 6, 3])
        >>> tf.keras.layers.Attention()([query, value]).shape.as_list()
        [2, 4, 3]
    """

    def build(self, input_shape):
        self.scale = self.add_weight("scale", shape=(), initializer="ones") if self.use_scale else None
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        scores = math.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


@keeps("use_scale=True")
class AdditiveAttention(BaseDenseAttention):
    """Scores are sums over tanh(query + key), with a learned weight for each feature.

    Args:
        use_scale: Whether scores are multiplied by a learned number.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> query, value = tf.ones([2, 4, 3]), tf.ones([2, 6, 3])
        >>> tf.keras.layers.AdditiveAttention()([query, value]).shape.as_list()
        [2, 4, 3]
    """

    def build(self, input_shape):
        depth = TensorShape(input_shape[1]).size(-1)
        self.scale = self.add_weight("scale", shape=[depth], initializer="glorot_uniform") if self.use_scale else None
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        query, key = array.expand_dims(query, axis=-2), array.expand_dims(key, axis=-3)
        scale = self.scale if self.use_scale else 1.0
        return math.reduce_sum(scale * math.tanh(query + key), axis=-1)
