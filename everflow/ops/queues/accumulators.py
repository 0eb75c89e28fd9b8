"""`tf.ConditionalAccumulator` and its sparse kin: where replicas put their gradients, and whoever updates takes them
out.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops.math.elementwise import cast
from everflow.ops.shape_rules import reference_handle, scalar_output


def _as_step(step):
    return cast(convert_to_tensor(step), dtypes.int64)


class ConditionalAccumulatorBase:
    """What both kinds share: counting gradients, and the step below which they are too old.

    Args:
        dtype: The type of the elements.
        shape: The shape of a gradient.
        accumulator_ref: The tensor that stands for the accumulator in the graph.

    Example:
        >>> isinstance(tf.ConditionalAccumulator(tf.float32), tf.ConditionalAccumulatorBase)
        True
    """

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = dtype
        self._shape = TensorShape(shape) if shape is not None else TensorShape(None)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref._op_name.split("/")[-1]

    @property
    def accumulator_ref(self):
        """The tensor that stands for the accumulator in ops."""
        return self._accumulator_ref

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)

    # The ops by handle; the sparse kind has the older ones, by reference.
    _count, _set_step = raw.ResourceAccumulatorNumAccumulated, raw.ResourceAccumulatorSetGlobalStep

    def num_accumulated(self, name=None):
        """How many gradients there are."""
        return type(self)._count(self._accumulator_ref, name=f"{self._name}_NumAccumulated" if name is None else name)

    def set_global_step(self, new_global_step, name=None):
        """An op that says which step it is; gradients of earlier ones are dropped from now on."""
        return type(self)._set_step(self._accumulator_ref, _as_step(new_global_step), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Collects dense gradients; `take_grad(n)` waits for n of them and gives their mean (or sum).

    Args:
        dtype: The type of the elements.
        shape: The lengths of the axes.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.
        reduction_type: `MEAN` or `SUM`.

    Example:
        >>> gradients = tf.ConditionalAccumulator(tf.float32, shape=[2])
        >>> for g in ([1.0, 2.0], [3.0, 4.0]):
        ...     sess.run(gradients.apply_grad(g, local_step=0))
        >>> sess.run(gradients.take_grad(2))
        array([2., 3.], dtype=float32)
    """

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        ref = raw.ResourceConditionalAccumulator(
            dtype=dtype, shape=TensorShape(shape), shared_name=shared_name, name=name, reduction_type=reduction_type
        )
        super().__init__(dtypes.as_dtype(dtype), shape, ref)

    def apply_grad(self, grad, local_step=0, name=None):
        """An op that puts a gradient in, unless `local_step` is before the accumulator's step."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        return raw.ResourceAccumulatorApplyGradient(
            self._accumulator_ref, local_step=_as_step(local_step), gradient=grad, name=name
        )

    def take_grad(self, num_required, name=None):
        """The mean of what was collected, once there are `num_required` gradients; then the next step begins."""
        taken = raw.ResourceAccumulatorTakeGradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Collects gradients of some rows each; a row is averaged over the gradients that have it.

    Args:
        dtype: The type of the elements.
        shape: The lengths of the axes.
        shared_name: The name under which other sessions of the same server find it, too.
        name: The name of the operation in the graph.
        reduction_type: `MEAN` or `SUM`.

    Example:
        >>> gradients = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1])
        >>> sess.run(gradients.apply_grad([0, 2], [[1.0], [5.0]]))
        >>> sess.run(gradients.take_grad(1)).indices
        array([0, 2])
    """

    _count, _set_step = raw.AccumulatorNumAccumulated, raw.AccumulatorSetGlobalStep

    def __init__(
        self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator", reduction_type="MEAN"
    ):
        ref = raw.SparseConditionalAccumulator(
            dtype=dtype, shape=TensorShape(shape), shared_name=shared_name, name=name, reduction_type=reduction_type
        )
        super().__init__(dtypes.as_dtype(dtype), shape, ref)

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """An op that puts IndexedSlices in."""
        return self.apply_grad(
            grad_indices=grad.indices,
            grad_values=grad.values,
            grad_shape=grad.dense_shape,
            local_step=local_step,
            name=name,
        )

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """An op that puts rows in; `grad_shape` is that of the whole."""
        local_step = _as_step(local_step)
        return raw.SparseAccumulatorApplyGradient(
            self._accumulator_ref,
            local_step=local_step,
            gradient_indices=cast(grad_indices, dtypes.int64),
            gradient_values=grad_values,
            gradient_shape=cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required, name=None):
        """(indices, values, shape) of what was collected, once there are `num_required` gradients."""
        return raw.SparseAccumulatorTakeGradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required, name=None):
        """The same as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)


_MAKERS = ("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator")
shape_rule(*_MAKERS)(reference_handle)
shape_rule("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")(scalar_output)
not_differentiable(
    *_MAKERS,
    *(
        prefix + "Accumulator" + what
        for prefix in ("", "Resource")
        for what in ("ApplyGradient", "NumAccumulated", "SetGlobalStep", "TakeGradient")
    ),
    "SparseAccumulatorApplyGradient",
    "SparseAccumulatorTakeGradient",
)
