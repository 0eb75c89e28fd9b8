"""Dense, dropout, and layers that change the shape of their inputs or apply a function to them."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras import regularizers
from everflow.keras.engine.arguments import data_format as checked_format
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import ConfiguredLayer, SameShape, keeps, takes, weight_of
from everflow.ops import array, math
from everflow.ops.control_flow import smart_cond
from everflow.ops.nn import activations as nn
from everflow.ops.nn.dropout import dropout as dropout_op


def _with_mask(tensor, mask):
    tensor._keras_mask = mask
    return tensor


@keeps("mask_value=0.0")
class Masking(SameShape):
    """Leave out steps of a sequence where all features are `mask_value`: layers after it skip them.

    Args:
        mask_value: The value.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> x = tf.constant([[[1.0], [0.0]]])
        >>> sess.run(tf.keras.layers.Masking().compute_mask(x))
        array([[ True, False]])
    """

    _compute_output_and_mask_jointly = True

    def _is_kept(self, inputs, keepdims):
        return K.any(math.not_equal(inputs, self.mask_value), axis=-1, keepdims=keepdims)

    def compute_mask(self, inputs, mask=None):
        return self._is_kept(inputs, keepdims=False)

    def call(self, inputs):
        kept = self._is_kept(inputs, keepdims=True)
        return _with_mask(inputs * math.cast(kept, inputs.dtype), array.squeeze(kept, axis=-1))


@keeps("rate, noise_shape=None, seed=None")
class Dropout(SameShape):
    """While training, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        noise_shape: The shape of what is decided; 1 where all entries along an axis are kept or dropped together.
        seed: A number that makes the random numbers the same in each run of the program.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Dropout(0.5)(tf.ones([2]), training=False))
        array([1., 1.], dtype=float32)
    """

    def _get_noise_shape(self, inputs):
        if self.noise_shape is None:
            return self.noise_shape
        sizes = array.shape(inputs)
        return convert_to_tensor([sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)])

    def call(self, inputs, training=None):
        training = K.learning_phase() if training is None else training
        return smart_cond(
            training,
            lambda: dropout_op(inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate),
            lambda: array.identity(inputs),
        )


class _SpatialDropout(Dropout):
    """Dropout of whole channels."""

    spatial = 0

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        self.data_format = checked_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    def _get_noise_shape(self, inputs):
        sizes = array.shape(inputs)
        ones = (1,) * self.spatial
        if self.data_format == "channels_first":
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self.spatial + 1])


class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of sequences.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.SpatialDropout1D(0.5)(tf.ones([2, 4, 3])).shape.as_list()
        [2, 4, 3]
    """

    spatial = 1

    def __init__(self, rate, **kwargs):
        super().__init__(rate, data_format="channels_last", **kwargs)


class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of images.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.SpatialDropout2D(0.5)(tf.ones([2, 4, 4, 3])).shape.as_list()
        [2, 4, 4, 3]
    """

    spatial = 2


class SpatialDropout3D(_SpatialDropout):
    """Dropout of whole channels of volumes.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.SpatialDropout3D(0.5)(tf.ones([2, 4, 4, 4, 3])).shape.as_list()
        [2, 4, 4, 4, 3]
    """

    spatial = 3


@keeps("activation")
class Activation(SameShape):
    """A function of each element, by name or as a callable.

    Args:
        activation: The function applied to the result, or its name; None leaves it as it is.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Activation("relu")(tf.constant([-1.0, 2.0])))
        array([0., 2.], dtype=float32)
    """

    def call(self, inputs):
        return self.activation(inputs)


@keeps("target_shape", target_shape=tuple)
class Reshape(ConfiguredLayer):
    """Another shape for each element of the batch; one size may be -1.

    Args:
        target_shape: The shape, without the batch.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Reshape((3, -1))(tf.ones([2, 12])).shape.as_list()
        [2, 3, 4]
    """

    def _fix_unknown_dimension(self, input_shape, output_shape):
        """A target shape, with -1 worked out."""
        known, result = input_shape, list(output_shape)
        message = (
            f"Inputs of shape {tuple(known)} can't be reshaped to {tuple(result)}: the total size must be unchanged"
        )
        if result.count(-1) > 1:
            raise ValueError(f"Can only specify one unknown dimension: {result}")
        total, others = int(np.prod(known, dtype=int)), int(np.prod([s for s in result if s != -1], dtype=int))
        if -1 in result:
            if others == 0 or total % others:
                raise ValueError(message)
            result[result.index(-1)] = total // others
        elif total != others:
            raise ValueError(message)
        return result

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        if None in sizes[1:]:
            return TensorShape([sizes[0], *(s if s != -1 else None for s in self.target_shape)])
        return TensorShape([sizes[0], *self._fix_unknown_dimension(sizes[1:], self.target_shape)])

    def call(self, inputs):
        return array.reshape(inputs, (array.shape(inputs)[0], *self.target_shape))


class Permute(ConfiguredLayer):
    """Dimensions in another order; the batch is not counted, the first after it is 1.

    Args:
        dims: The dimensions in their new order.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Permute((2, 1))(tf.ones([2, 3, 4])).shape.as_list()
        [2, 4, 3]
    """

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self._keep(dims=tuple(dims))
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute: {dims}. It has each of the numbers from 1 to {len(dims)} once."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *(sizes[d] for d in self.dims)])

    def call(self, inputs):
        return array.transpose(inputs, perm=(0, *self.dims))


class Flatten(ConfiguredLayer):
    """Inputs as [batch, everything else].

    Args:
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Flatten()(tf.ones([2, 4, 4, 3])).shape.as_list()
        [2, 48]
    """

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._keep(data_format=checked_format(data_format))
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array.transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = array.reshape(inputs, (inputs.shape.size(0) or array.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape)
        rest = shape[1:]
        return TensorShape([shape[0], rest.num_elements() if rest.is_fully_defined() else None])


class RepeatVector(ConfiguredLayer):
    """[batch, features] as [batch, n, features].

    Args:
        n: How often.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.RepeatVector(4)(tf.ones([2, 3])).shape.as_list()
        [2, 4, 3]
    """

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self._keep(n=n)
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], self.n, sizes[1]])

    def call(self, inputs):
        return K.repeat(inputs, self.n)


class Dense(ConfiguredLayer):
    """activation(inputs * kernel + bias); inputs of higher rank are multiplied along their last dimension.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> layer = tf.keras.layers.Dense(10, activation="softmax")
        >>> layer(tf.ones([2, 3])).shape.as_list(), [w.name for w in layer.weights]
        ([2, 10], ['dense/kernel:0', 'dense/bias:0'])
    """

    @takes(
        """units, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        units = given["units"]
        self._keep_given(given, units=units if isinstance(units, int) else int(units))
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        dtype = dtypes.as_dtype(self.dtype or K.floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(
                f"Unable to build `Dense` layer {self.name}: its dtype is {dtype}, and has to be floating or complex."
            )
        depth = self._depth(TensorShape(input_shape))
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = weight_of(self, "kernel", [depth, self.units])
        self.bias = weight_of(self, "bias", [self.units]) if self.use_bias else None
        self.built = True

    def call(self, inputs):
        if K.is_sparse(inputs):
            outputs = K.dot(inputs, self.kernel)
        else:
            inputs = convert_to_tensor(inputs)
            rank = inputs.shape.rank
            if rank > 2:
                outputs = math.tensordot(inputs, self.kernel, [[rank - 1], [0]])
                outputs.set_shape(inputs.shape.as_list()[:-1] + [self.units])
            else:
                outputs = raw.MatMul(a=math.cast(inputs, dtypes.as_dtype(self._compute_dtype)), b=self.kernel)
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias)
        return self.activation(outputs) if self.activation is not None else outputs

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.size(-1) is None:
            raise ValueError(f"{self.name} needs the innermost dimension of input_shape, and is given {shape}.")
        return shape[:-1].concatenate(self.units)

    def _depth(self, shape):
        if shape.size(-1) is None:
            raise ValueError(
                f"The `Dense` layer {self.name} has to know the last dimension of its input, and is given {shape}."
            )
        return shape.size(-1)


class ActivityRegularization(SameShape):
    """The inputs as they are, with a penalty on their size.

    Args:
        l1: The cost of absolute values.
        l2: The cost of squares.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> layer = tf.keras.layers.ActivityRegularization(l2=0.1)
        >>> _ = layer(tf.ones([1, 2]))
        >>> sess.run(layer.losses)
        [np.float32(0.2)]
    """

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self._keep(l1=l1, l2=l2)
