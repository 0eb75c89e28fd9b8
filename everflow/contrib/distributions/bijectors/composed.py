"""Bijectors made of others or of functions: Chain, Invert, Inline."""

from __future__ import annotations

from everflow.contrib.distributions.bijectors.bijector import Bijector
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import math


class ConditionalBijector(Bijector):
    """A bijector whose methods take further arguments: `forward(x, condition=...)`."""

    def forward(self, x, name="forward", **condition_kwargs):
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y, name="inverse", **condition_kwargs):
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **condition_kwargs):
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian", **condition_kwargs):
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


class Invert(Bijector):
    """Another bijector the other way round."""

    def __init__(self, bijector, validate_args=False, name=None):
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    bijector = property(lambda self: self._bijector, doc="The one that is inverted.")

    def _forward_event_shape(self, input_shape):
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape):
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x, **kwargs):
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


class Chain(Bijector):
    """Bijectors one after the other: `Chain([f, g]).forward(x)` is `f.forward(g.forward(x))`."""

    def __init__(self, bijectors=None, validate_args=False, name=None):
        self._bijectors = bijectors = tuple(bijectors or ())
        for bijector in bijectors:
            if not hasattr(bijector, "forward"):
                raise TypeError(f"Invalid bijector at index {bijectors.index(bijector)}; {bijector} is no Bijector")
        super().__init__(
            graph_parents=[parent for bijector in bijectors for parent in bijector.graph_parents],
            forward_min_event_ndims=self._min_ndims(bijectors[::-1], "forward"),
            inverse_min_event_ndims=self._min_ndims(bijectors, "inverse"),
            is_constant_jacobian=all(bijector.is_constant_jacobian for bijector in bijectors),
            validate_args=validate_args,
            dtype=next((bijector.dtype for bijector in bijectors if bijector.dtype is not None), None),
            name=name or ("identity" if not bijectors else "_of_".join(["chain", *(bijector.name for bijector in bijectors)])),
        )

    bijectors = property(lambda self: self._bijectors, doc="The links, the outermost first.")

    @staticmethod
    def _min_ndims(bijectors, way):
        """The rank that events need so that each link gets what it wants."""
        back = "inverse" if way == "forward" else "forward"
        least, now = 0, 0
        for bijector in bijectors:
            wanted = getattr(bijector, f"{way}_min_event_ndims")
            missing = max(0, wanted - now)
            least, now = least + missing, now + missing
            now += getattr(bijector, f"{back}_min_event_ndims") - wanted
        return least

    def _forward_event_shape(self, input_shape):
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape):
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape):
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape):
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _inverse(self, y, **kwargs):
        for bijector in self.bijectors:
            y = bijector.inverse(y, **kwargs.get(bijector.name, {}))
        return y

    def _forward(self, x, **kwargs):
        for bijector in reversed(self.bijectors):
            x = bijector.forward(x, **kwargs.get(bijector.name, {}))
        return x

    def _inverse_log_det_jacobian(self, y, **kwargs):
        log_det = math.cast(0.0, dtype=y.dtype)
        event_ndims = self.inverse_min_event_ndims
        for bijector in self.bijectors:
            more = kwargs.get(bijector.name, {})
            log_det += bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims, **more)
            event_ndims += bijector.forward_min_event_ndims - bijector.inverse_min_event_ndims
            y = bijector.inverse(y, **more)
        return log_det

    def _forward_log_det_jacobian(self, x, **kwargs):
        x = convert_to_tensor(x, name="x")
        log_det = math.cast(0.0, dtype=x.dtype)
        event_ndims = self.forward_min_event_ndims
        for bijector in reversed(self.bijectors):
            more = kwargs.get(bijector.name, {})
            log_det += bijector.forward_log_det_jacobian(x, event_ndims=event_ndims, **more)
            event_ndims += bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims
            x = bijector.forward(x, **more)
        return log_det


class Inline(Bijector):
    """A bijector of functions that are given.

    >>> double = Inline(lambda x: 2.0 * x, lambda y: y / 2.0, inverse_log_det_jacobian_fn=lambda y: -tf.log(2.0), forward_min_event_ndims=0)
    """

    def __init__(
        self,
        forward_fn=None,
        inverse_fn=None,
        inverse_log_det_jacobian_fn=None,
        forward_log_det_jacobian_fn=None,
        forward_event_shape_fn=None,
        forward_event_shape_tensor_fn=None,
        inverse_event_shape_fn=None,
        inverse_event_shape_tensor_fn=None,
        is_constant_jacobian=False,
        validate_args=False,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name="inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        given = {
            "_forward": forward_fn,
            "_inverse": inverse_fn,
            "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "_forward_log_det_jacobian": forward_log_det_jacobian_fn,
            "_forward_event_shape": forward_event_shape_fn,
            "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "_inverse_event_shape": inverse_event_shape_fn,
            "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }
        for method, function in given.items():
            if function is not None:
                setattr(self, method, function)
