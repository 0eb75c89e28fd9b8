"""What all bijectors share: a map, its inverse, and how it stretches volume, of which a kind defines some.

An event is what is mapped as a whole: a number for `Exp`, a vector for `Affine`. Asked about larger events, the
stretching of their parts adds up.
"""

from __future__ import annotations

import contextlib
import re

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies


class Bijector:
    """A map between values that can be undone.

    A kind defines `_forward` and `_inverse`, and one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`.

    >>> exp = tf.contrib.distributions.bijectors.Exp()
    >>> exp.inverse(exp.forward(x))  # x itself
    """

    def __init__(
        self,
        graph_parents=None,
        is_constant_jacobian=False,
        validate_args=False,
        dtype=None,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name=None,
    ):
        if type(self) is Bijector:
            raise TypeError("Bijector is what all kinds share: subclass it, with _forward and _inverse")
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("forward_min_event_ndims or inverse_min_event_ndims must be given: the rank of events")
        self._graph_parents = graph_parents or []
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        forward, inverse = forward_min_event_ndims, inverse_min_event_ndims
        self._forward_min_event_ndims = inverse if forward is None else forward
        self._inverse_min_event_ndims = forward if inverse is None else inverse
        self._name = name or re.sub("([a-z0-9])([A-Z])", r"\1_\2", type(self).__name__.lstrip("_")).lower()
        # Pairs that were mapped, so that going back gives the tensor one came from.
        self._known: dict = {"forward": {}, "inverse": {}}
        self._constant_log_det: dict = {}
        self._log_dets: dict = {"forward": {}, "inverse": {}}

    # Whether no two values are mapped to one; `AbsoluteValue`, say, is not injective.
    _is_injective = True

    graph_parents = property(lambda self: self._graph_parents, doc="The tensors it is made of.")
    forward_min_event_ndims = property(lambda self: self._forward_min_event_ndims, doc="The rank that `forward` takes.")
    inverse_min_event_ndims = property(lambda self: self._inverse_min_event_ndims, doc="The rank that `inverse` takes.")
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian, doc="Whether it stretches volume evenly.")
    validate_args = property(lambda self: self._validate_args, doc="Whether values are checked when the graph runs.")
    dtype = property(lambda self: self._dtype, doc="The type of values, or None for any.")
    name = property(lambda self: self._name, doc="Its name.")

    # Shapes of events.

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        """The shape that events of this shape get, as a tensor."""
        with self._name_scope(name, [input_shape]):
            shape = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
            return self._forward_event_shape_tensor(shape)

    def forward_event_shape(self, input_shape):
        """What is known of the shape that events of this shape get."""
        return self._forward_event_shape(TensorShape(input_shape))

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        """The shape that events of this shape come from, as a tensor."""
        with self._name_scope(name, [output_shape]):
            shape = convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape")
            return self._inverse_event_shape_tensor(shape)

    def inverse_event_shape(self, output_shape):
        """What is known of the shape that events of this shape come from."""
        return self._inverse_event_shape(TensorShape(output_shape))

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape

    def _forward_event_shape(self, input_shape):
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape):
        return output_shape

    def _inverse_event_shape(self, output_shape):
        return output_shape

    # The map.

    def forward(self, x, name="forward"):
        """Where values go."""
        return self._call_forward(x, name)

    def inverse(self, y, name="inverse"):
        """Where values come from."""
        return self._call_inverse(y, name)

    def _call_forward(self, x, name, **kwargs):
        with self._name_scope(name, [x]):
            return self._mapped(convert_to_tensor(x, name="x"), "forward", kwargs)

    def _call_inverse(self, y, name, **kwargs):
        with self._name_scope(name, [y]):
            return self._mapped(convert_to_tensor(y, name="y"), "inverse", kwargs)

    def _mapped(self, value, way, kwargs):
        self._check_dtype(value)
        return self._paired(way, value, kwargs)

    def _paired(self, way, value, kwargs):
        """What a value is mapped to, drawn once, and the pair remembered for the way back."""
        function, back = (self._forward, "inverse") if way == "forward" else (self._inverse, "forward")
        key = (value, tuple(sorted(kwargs.items(), key=lambda item: item[0])))
        if key not in self._known[way]:
            result = function(value, **kwargs)
            self._known[way][key] = result
            self._known[back][(result, key[1])] = value
        return self._known[way][key]

    def _forward(self, x):
        raise NotImplementedError(f"forward not implemented: {type(self).__name__}")

    def _inverse(self, y):
        raise NotImplementedError(f"inverse not implemented: {type(self).__name__}")

    # Volumes.

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """The logarithm of how much `forward` stretches volume at x, summed over events of that rank."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """The logarithm of how much `inverse` stretches volume at y, summed over events of that rank."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _call_inverse_log_det_jacobian(self, y, event_ndims, name, **kwargs):
        with self._name_scope(name, [y]):
            if event_ndims in self._constant_log_det:
                return self._constant_log_det[event_ndims]
            y = convert_to_tensor(y, name="y")
            ndims = self._checked_ndims(event_ndims, self._inverse_min_event_ndims)
            self._check_dtype(y)
            key = (ndims, tuple(sorted(kwargs.items())))
            if (y, *key) in self._log_dets["inverse"]:
                return self._log_dets["inverse"][(y, *key)]
            try:
                log_det = self._summed(y, self._inverse_log_det_jacobian(y, **kwargs), ndims, "inverse")
            except NotImplementedError as missing:
                x = self._paired("inverse", y, kwargs)
                found = _or_else(missing, lambda: self._forward_log_det_jacobian(x, **kwargs))
                log_det = self._summed(x, -found, ndims, "forward")
            return self._kept(event_ndims, log_det, self._known["inverse"].get((y, key[1])), y, key)

    def _call_forward_log_det_jacobian(self, x, event_ndims, name, **kwargs):
        with self._name_scope(name, [x]):
            ndims = self._checked_ndims(event_ndims, self._forward_min_event_ndims)
            if event_ndims in self._constant_log_det:
                return -1.0 * self._constant_log_det[event_ndims]
            x = convert_to_tensor(x, name="x")
            self._check_dtype(x)
            key = (ndims, tuple(sorted(kwargs.items())))
            if (x, *key) in self._log_dets["forward"]:
                return -self._log_dets["forward"][(x, *key)]
            try:
                log_det = self._summed(x, -self._forward_log_det_jacobian(x, **kwargs), ndims, "forward")
            except NotImplementedError as missing:
                y = self._paired("forward", x, kwargs)
                found = _or_else(missing, lambda: self._inverse_log_det_jacobian(y, **kwargs))
                log_det = self._summed(y, found, ndims, "inverse")
            return -self._kept(event_ndims, log_det, x, self._known["forward"].get((x, key[1])), key)

    def _kept(self, event_ndims, log_det, x, y, key):
        """Remember what is known of the inverse at a pair of values, or everywhere, so that it is drawn once."""
        if x is not None:
            self._log_dets["forward"][(x, *key)] = log_det
        if y is not None:
            self._log_dets["inverse"][(y, *key)] = log_det
        if self._is_constant_jacobian and isinstance(event_ndims, int):
            self._constant_log_det[event_ndims] = log_det
        return log_det

    def _forward_log_det_jacobian(self, x):
        raise NotImplementedError(f"forward_log_det_jacobian not implemented: {type(self).__name__}")

    def _inverse_log_det_jacobian(self, y):
        raise NotImplementedError(f"inverse_log_det_jacobian not implemented: {type(self).__name__}")

    def _summed(self, value, log_det, event_ndims, way):
        """Add up over the axes by which events are larger than the map's own."""
        least = self._inverse_min_event_ndims if way == "inverse" else self._forward_min_event_ndims
        if value.shape.ndims is not None and value.shape.ndims < least:
            raise ValueError(f"Input must have rank at least {least}. Instead: {value.shape.ndims}")
        rank = array.rank(value)
        ones = array.ones(array.shape(value)[rank - event_ndims : rank - least], dtype=log_det.dtype)
        first = least - event_ndims
        axes = list(range(first, 0)) if isinstance(event_ndims, int) else math.range(first, 0)
        result = math.reduce_sum(ones * log_det, axis=axes)
        if value.shape.ndims is not None and log_det.shape.ndims is not None and isinstance(event_ndims, int):
            batch = TensorShape(value.shape[: value.shape.ndims - event_ndims])
            with contextlib.suppress(ValueError):  # shapes that only fit each other at run time, if then
                result.set_shape(
                    array.broadcast_static_shape(batch, result.shape) if result.shape.ndims else result.shape
                )
        return result

    def _checked_ndims(self, event_ndims, least):
        event_ndims = convert_to_tensor(event_ndims, name="event_ndims")
        known = constant_value(event_ndims)
        if not event_ndims.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {event_ndims.dtype}")
        if known is None:
            too_small = f"event_ndims is too small: {self.name} maps events of rank {least}"
            if not self.validate_args:
                return event_ndims
            return with_dependencies([check.assert_greater_equal(event_ndims, least, message=too_small)], event_ndims)
        if known.ndim != 0:
            raise ValueError(f"Expected scalar, got shape {known.shape}")
        if known < least:
            raise ValueError(f"event_ndims={known} is too small: {self.name} maps events of rank {least}")
        return int(known)

    def _check_dtype(self, value):
        if self._dtype is not None and value.dtype.base_dtype != self._dtype:
            raise TypeError(f"Input had dtype {value.dtype} but expected {self._dtype}.")

    @contextlib.contextmanager
    def _init_scope(self, name, values):
        """Where constructors draw their parameters, before the base's own has run."""
        self._graph_parents, self._name = [], name
        with self._name_scope("init", values=values):
            yield

    @contextlib.contextmanager
    def _name_scope(self, name=None, values=None):
        with name_scope(self.name), name_scope(name, values=(values or []) + self.graph_parents) as scope:
            yield scope


class KeepsVolume:
    """What bijectors share that stretch nothing."""

    def _forward_log_det_jacobian(self, x):
        return convert_to_tensor(0.0, dtype=x.dtype.base_dtype)

    def _inverse_log_det_jacobian(self, y):
        return convert_to_tensor(0.0, dtype=y.dtype.base_dtype)


def _or_else(missing, derived):
    """What follows from the other direction, or the complaint about this one."""
    try:
        return derived()
    except NotImplementedError:
        raise missing from None
