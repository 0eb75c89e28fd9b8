"""tensorflow.python.ops.control_flow_ops: the nodes of branches and loops one by one, for programs that put them together
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import internal_convert_to_tensor
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import control_dependencies, device
from everflow.ops.control_flow.conditionals import _unpack_singleton as _UnpackIfSingleton
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.control_flow.conditionals import summarized as _summarize_eager
from everflow.ops.control_flow.contexts import switch_ref_or_tensor
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.control_flow.loops import _fits_in as _ShapeLessThanOrEqual
from everflow.ops.control_flow.loops import enforce_shape_invariant as _EnforceShapeInvariant
from everflow.ops.control_flow.primitives import identity as _Identity
from everflow.ops.control_flow.primitives import next_iteration as _NextIteration
from everflow.ops.control_flow.primitives import switch

__all__ = [
    "_EnforceShapeInvariant",
    "_Enter",
    "_GroupControlDeps",
    "_Identity",
    "_NextIteration",
    "_ShapeLessThanOrEqual",
    "_SwitchRefOrTensor",
    "_UnpackIfSingleton",
    "_summarize_eager",
    "cond_for_tf_v2",
]


def _Enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Bring a value into a frame; without `use_input_shape` its shape is not known inside."""
    if not hasattr(data, "_type_spec"):
        data = internal_convert_to_tensor(data, as_ref=True)
    options = (frame_name, is_constant, parallel_iterations, use_ref, use_input_shape, name)
    if not isinstance(data, Tensor):
        parts = [_Enter(part, *options) for part in nest.flatten(data, expand_composites=True)]
        return nest.pack_sequence_as(data, parts, expand_composites=True)
    build = raw.RefEnter if data.dtype._is_ref_dtype and use_ref else raw.Enter
    result = build(data, frame_name, is_constant=is_constant, parallel_iterations=parallel_iterations, name=name)
    if use_input_shape:
        result.set_shape(data.shape)
    return result


def _SwitchRefOrTensor(data: Any, pred: Any, name: str = "Switch") -> Any:
    """`data` at one of two outputs; a reference stays one."""
    if not hasattr(data, "_type_spec"):
        data = internal_convert_to_tensor(data, name="data", as_ref=True)
    return switch_ref_or_tensor(data, pred, name) if isinstance(data, Tensor) else switch(data, pred, name=name)


def _GroupControlDeps(dev: Any, deps: Sequence[Any], name: str | None = None) -> Operation:
    """An op on a device that runs after others."""
    with control_dependencies(deps), device(dev):
        return no_op(name=name)


def cond_for_tf_v2(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: Any = None
) -> Any:
    """`tf.cond` as version 2 has it: a list of one stays a list."""
    return cond(pred, true_fn=true_fn, false_fn=false_fn, strict=True, name=name)
