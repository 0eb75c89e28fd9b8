"""What inputs a layer takes: rank, shape, dtype, sizes of single axes."""

from __future__ import annotations

from everflow.framework import dtypes, nest
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec


class InputSpec:
    """Rank, dtype and shape that an input of a layer must have, as far as they matter.

    Args:
        dtype: The type of the elements.
        shape: The lengths of the axes.
        ndim: The rank.
        max_ndim: The greatest rank.
        min_ndim: The least rank.
        axes: Sizes by axis.

    Example:
        >>> tf.layers.InputSpec(min_ndim=2, axes={-1: 3})
        InputSpec(min_ndim=2, axes={-1: 3})
    """

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, AttributeError) as e:
            raise TypeError(f"`axes` has sizes by the number of an axis, as in {{-1: 3}}; got {axes!r}") from e
        rank = self.ndim or max_ndim
        if self.axes and rank is not None and max(self.axes) >= rank:
            raise ValueError(f"There is no axis {max(self.axes)} where the rank is {rank} at most.")

    def __repr__(self):
        parts = [("dtype=" + str(self.dtype)) if self.dtype else "", ("shape=" + str(self.shape)) if self.shape else ""]
        parts += [
            f"{key}={getattr(self, key)}" if getattr(self, key) else ""
            for key in ("ndim", "max_ndim", "min_ndim", "axes")
        ]
        return f"InputSpec({', '.join(p for p in parts if p)})"

    def get_config(self):
        """The arguments that make this again."""
        return {key: getattr(self, key) for key in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}

    @classmethod
    def from_config(cls, config):
        """An InputSpec from what `get_config` gave."""
        return cls(**config)


def to_tensor_shape(spec):
    """The shape that a spec tells of, as far as it does."""
    if spec.ndim is None and spec.shape is None:
        return TensorShape(None)
    if spec.shape is not None:
        return TensorShape(spec.shape)
    sizes = [None] * spec.ndim
    for axis, size in spec.axes.items():
        sizes[axis] = size
    return TensorShape(sizes)


def to_tensor_spec(input_spec, default_dtype=None):
    """A spec, or a structure of them, as TensorSpecs; of this type (float32 for None) where a spec has none."""
    default = default_dtype or "float32"
    return nest.map_structure(lambda spec: TensorSpec(to_tensor_shape(spec), spec.dtype or default), input_spec)


def assert_input_compatibility(input_spec, inputs, layer_name):
    """Raise ValueError where inputs don't fit a layer's InputSpec (or list of them)."""
    if not input_spec:
        return
    specs, tensors = nest.flatten(input_spec), nest.flatten(inputs)
    if len(specs) != len(tensors):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(tensors)} input tensors. Inputs received: {inputs}"
        )
    for index, (tensor, spec) in enumerate(zip(tensors, specs)):
        if spec is None:
            continue
        found = _misfit(spec, tensor)
        if found:
            raise ValueError(f"Input {index} of layer {layer_name} is incompatible with the layer: {found}")


def _misfit(spec, tensor):
    shape = tensor.shape if isinstance(tensor.shape, TensorShape) else TensorShape(tensor.shape)
    rank = shape.rank
    if rank is None:
        if spec.ndim is not None or spec.min_ndim is not None or spec.max_ndim is not None:
            return "its rank is undefined, and the layer wants to know it: set the shape of the input."
        return None
    sizes = shape.as_list()
    if spec.ndim is not None and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {sizes}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f"expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {sizes}"
    if spec.dtype is not None and tensor.dtype != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype}"
    for axis, value in spec.axes.items():
        value = getattr(value, "value", value)
        if value is not None and sizes[int(axis)] not in (value, None):
            return f"expected axis {axis} of input shape to have value {value} but received input with shape {sizes}"
    if spec.shape is not None:
        for wanted, size in zip(TensorShape(spec.shape).as_list(), sizes):
            if wanted is not None and size is not None and wanted != size:
                return f"expected shape={spec.shape}, found shape={sizes}"
    return None
