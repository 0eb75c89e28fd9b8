"""`tf.keras.layers.Embedding`: vectors looked up by number."""

from __future__ import annotations

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.layers.configured import ConfiguredLayer, takes, weight_of
from everflow.ops import math
from everflow.ops.nn.embedding import embedding_lookup


class Embedding(ConfiguredLayer):
    """A vector of `output_dim` numbers for each of `input_dim` ids; with `mask_zero`, id 0 is left out by masks.

    Args:
        input_dim: How many ids there are.
        output_dim: How many numbers stand for an id.
        embeddings_initializer: What they start as.
        embeddings_regularizer: A function of them whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        embeddings_constraint: A function that gives them back as they may be.
        mask_zero: Whether id 0 is left out by masks.
        input_length: How long sequences are, where that is fixed.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Embedding(1000, 16)(tf.constant([[4, 10]])).shape.as_list()
        [1, 2, 16]
    """

    @takes(
        """input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
        activity_regularizer=None, embeddings_constraint=None, mask_zero=False, input_length=None"""
    )
    def __init__(self, given, **kwargs):
        if "input_shape" not in kwargs:
            kwargs["input_shape"] = (given["input_length"] or None,)
        kwargs["autocast"] = False  # ids that are floats mustn't lose digits
        super().__init__(dtype=kwargs.pop("dtype", None) or K.floatx(), **kwargs)
        self._keep_given(given)
        self.supports_masking = self.mask_zero

    @shape_tuples
    def build(self, input_shape):
        self.embeddings = weight_of(self, "embeddings", (self.input_dim, self.output_dim))
        self.built = True

    def compute_mask(self, inputs, mask=None):
        return math.not_equal(inputs, 0) if self.mask_zero else None

    @shape_tuples
    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape([*sizes, self.output_dim])
        lengths = list(self.input_length) if isinstance(self.input_length, (list, tuple)) else [self.input_length]
        message = (
            f"Inputs of shape {tuple(sizes)} don't fit the `input_length` of {self.name}, which is {self.input_length}."
        )
        if len(lengths) != len(sizes) - 1:
            raise ValueError(message)
        for i, (wanted, size) in enumerate(zip(lengths, sizes[1:])):
            if wanted is not None and size is not None and wanted != size:
                raise ValueError(message)
            lengths[i] = size if wanted is None else wanted
        return TensorShape([sizes[0], *lengths, self.output_dim])

    def call(self, inputs):
        if K.dtype(inputs) not in ("int32", "int64"):
            inputs = math.cast(inputs, "int32")
        return embedding_lookup(self.embeddings, inputs)
