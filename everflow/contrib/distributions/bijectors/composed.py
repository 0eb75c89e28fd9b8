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


# What a bijector has for each way.
_WHAT = ("", "_log_det_jacobian", "_event_shape", "_event_shape_tensor")


def _other_way(method):
    return lambda self, value, **kwargs: getattr(self.bijector, method)(value, **kwargs)


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

    _forward, _forward_log_det_jacobian, _forward_event_shape, _forward_event_shape_tensor = (
        _other_way(f"_inverse{what}") for what in _WHAT
    )
    _inverse, _inverse_log_det_jacobian, _inverse_event_shape, _inverse_event_shape_tensor = (
        _other_way(f"_forward{what}") for what in _WHAT
    )


def _by_links(way, method):
    """A method of a chain that calls the one of each link in turn."""
    return lambda self, value, **kwargs: self._through(way, method, value, kwargs)


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
            name=name
            or ("identity" if not bijectors else "_of_".join(["chain", *(bijector.name for bijector in bijectors)])),
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

    def _links(self, way):
        """The bijectors in the order in which values go through them: the innermost first, or last on the way back."""
        return self.bijectors if way == "inverse" else self.bijectors[::-1]

    def _through(self, way, method, value, kwargs):
        for bijector in self._links(way):
            value = getattr(bijector, method)(value, **kwargs.get(bijector.name, {}))
        return value

    _forward_event_shape, _forward_event_shape_tensor, _forward = (
        _by_links("forward", method) for method in ("forward_event_shape", "forward_event_shape_tensor", "forward")
    )
    _inverse_event_shape, _inverse_event_shape_tensor, _inverse = (
        _by_links("inverse", method) for method in ("inverse_event_shape", "inverse_event_shape_tensor", "inverse")
    )

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self._log_det("forward", "inverse", convert_to_tensor(x, name="x"), kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self._log_det("inverse", "forward", y, kwargs)

    def _log_det(self, way, back, value, kwargs):
        """The sum of what each link stretches volume by, at the value that reaches it."""
        total = math.cast(0.0, dtype=value.dtype)
        event_ndims = getattr(self, f"{way}_min_event_ndims")
        for bijector in self._links(way):
            given = kwargs.get(bijector.name, {})
            total += getattr(bijector, f"{way}_log_det_jacobian")(value, event_ndims=event_ndims, **given)
            event_ndims += getattr(bijector, f"{back}_min_event_ndims") - getattr(bijector, f"{way}_min_event_ndims")
            value = getattr(bijector, way)(value, **given)
        return total


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
        ndims = {"forward_min_event_ndims": forward_min_event_ndims, "inverse_min_event_ndims": inverse_min_event_ndims}
        super().__init__(**ndims, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name)
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
