"""Generalized divisive normalization, after Ballé et al. (2016): channels divided by a learned norm over all."""

from __future__ import annotations

from everflow import nn
from everflow.framework.registry import RegisterGradient
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.keras.engine.input_spec import InputSpec
from everflow.layers.base import Layer
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.linalg.decompositions import eye
from everflow.platform.signatures import takes


@RegisterGradient("GDNLowerBound")
def _lower_bound_grad(op, grad):
    """The gradient of a maximum that lets through what would move the value back above the bound."""
    inputs, bound = op.inputs
    passes = math.logical_or(inputs >= bound, grad < 0)
    return [math.cast(passes, grad.dtype) * grad, None]


class GDN(Layer):
    """y[i] = x[i] / sqrt(beta[i] + sum over j of gamma[j, i] * x[j]²); `inverse` multiplies instead."""

    def __init__(
        self,
        inverse=False,
        beta_min=1e-6,
        gamma_init=0.1,
        reparam_offset=2**-18,
        data_format="channels_last",
        activity_regularizer=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.inverse = inverse
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.data_format = data_format
        self._channel_axis_of(data_format)
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    @staticmethod
    def _channel_axis_of(data_format):
        try:
            return {"channels_first": 1, "channels_last": -1}[data_format]
        except KeyError:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.") from None

    @staticmethod
    def _lower_bound(inputs, bound):
        with get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
            return math.maximum(inputs, bound, name="GDNLowerBound")

    def build(self, input_shape):
        axis = self._channel_axis_of(self.data_format)
        channels = TensorShape(input_shape).size(axis)
        if channels is None:
            raise ValueError(f"GDN makes weights for channels: dimension {axis} must be known, it is {input_shape}")
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5, axes={axis: channels})
        # Roots are trained rather than the values, so that these stay positive.
        pedestal = constant(self._reparam_offset**2, dtype=self.dtype)
        beta_bound = constant((self._beta_min + self._reparam_offset**2) ** 0.5, dtype=self.dtype)
        gamma_bound = constant(self._reparam_offset, dtype=self.dtype)

        def beta_start(shape, dtype=None, partition_info=None):
            offset = constant(self._reparam_offset**2, dtype=self.dtype)
            return math.sqrt(array.ones(shape, dtype=dtype) + offset)

        def gamma_start(shape, dtype=None, partition_info=None):
            diagonal = eye(shape[0], shape[1], dtype=dtype)
            offset = constant(self._reparam_offset**2, dtype=self.dtype)
            return math.sqrt(self._gamma_init * diagonal + offset)

        beta = self.add_weight("reparam_beta", [channels], initializer=beta_start, dtype=self.dtype, trainable=True)
        self.beta = math.square(self._lower_bound(beta, beta_bound)) - pedestal
        settings = {"initializer": gamma_start, "dtype": self.dtype, "trainable": True}
        gamma = self.add_weight("reparam_gamma", shape=[channels, channels], **settings)
        self.gamma = math.square(self._lower_bound(gamma, gamma_bound)) - pedestal
        self.built = True

    def call(self, inputs):
        rank = inputs.shape.ndims
        channels = self.input_spec.axes[self._channel_axis_of(self.data_format)]
        gamma = array.reshape(self.gamma, (1,) * (rank - 2) + (channels, channels))
        first = self.data_format == "channels_first"
        op_format = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}[rank][first]
        norm = nn.convolution(math.square(inputs), gamma, "VALID", data_format=op_format)
        norm = nn.bias_add(norm, self.beta, data_format="NCHW" if first else "NHWC")
        norm = math.sqrt(norm)
        outputs = inputs * norm if self.inverse else inputs / norm
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)


@takes(GDN.__init__)
def gdn(inputs, *, reuse=None, **given):
    """Generalized divisive normalization of images; see `GDN`."""
    return GDN(**given, dtype=inputs.dtype.base_dtype, _scope=given["name"], _reuse=reuse).apply(inputs)
