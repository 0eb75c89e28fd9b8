"""Dense, dropout and flatten layers, and their functional forms."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.keras.engine.arguments import data_format as checked_format
from everflow.keras.engine.input_spec import InputSpec
from everflow.layers import activations
from everflow.layers.base import Layer
from everflow.ops import array, initializers, math, nn
from everflow.ops.control_flow import smart_cond
from everflow.ops.nn_dropout import dropout as dropout_op

_ZEROS = initializers.zeros_initializer()


def initializer_of(given):
    """An initializer, made where a class is given."""
    return given() if isinstance(given, type) else given


class Dense(Layer):
    """activation(inputs * kernel + bias); inputs of higher rank are multiplied along their last dimension.

    >>> y = tf.layers.Dense(10, activation=tf.nn.relu)(x)
    """

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS,
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units) if not isinstance(units, int) else units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        depth = TensorShape(input_shape)[-1].value
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel",
            shape=[depth, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            dtype=self.dtype,
            trainable=True,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                dtype=self.dtype,
                trainable=True,
            )
        self.built = True

    def call(self, inputs):
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank > 2:
            outputs = math.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape(inputs.shape.as_list()[:-1] + [self.units])
        else:
            outputs = raw.MatMul(a=math.cast(inputs, dtypes.as_dtype(self.dtype)), b=self.kernel)
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias)
        return self.activation(outputs) if self.activation is not activations.linear else outputs

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape[-1].value is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {input_shape}")
        return shape[:-1].concatenate(self.units)


def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS,
          kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
          trainable=True, name=None, reuse=None):  # fmt: skip
    """activation(inputs * kernel + bias), with variables `name/kernel` and `name/bias`.

    >>> y = tf.layers.dense(x, 10, activation=tf.nn.relu)
    """
    layer = Dense(
        units,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)


class Dropout(Layer):
    """While training, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _noise_shape(self, inputs):
        if self.noise_shape is None:
            return None
        shape = array.shape(inputs)
        return convert_to_tensor([shape[i] if size is None else size for i, size in enumerate(self.noise_shape)])

    def call(self, inputs, training=False):
        return smart_cond(
            training,
            lambda: dropout_op(inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate),
            lambda: array.identity(inputs),
        )

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)

    def get_config(self):
        return {
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
        }


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """While `training`, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs."""
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


class Flatten(Layer):
    """Inputs as [batch, everything else]."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = checked_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array.transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = array.reshape(inputs, (inputs.shape[0].value or array.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape)
        rest = shape[1:]
        return TensorShape([shape[0], rest.num_elements() if rest.is_fully_defined() else None])

    def get_config(self):
        return {"data_format": self.data_format, "name": self.name, "trainable": self.trainable, "dtype": self.dtype}


def flatten(inputs, name=None, data_format="channels_last"):
    """Inputs as [batch, everything else]."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
