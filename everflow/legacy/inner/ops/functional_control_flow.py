"""tensorflow.python.ops' cond_v2 and while_v2: branches and loops as functions, whichever kind tf.cond and tf.while_loop
draw.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops.control_flow.functional_branches import functional_case, functional_cond
from everflow.ops.control_flow.functional_loops import accumulator_name, functional_loop
from everflow.ops.control_flow.loops import flat_invariants, kept_shapes

__all__ = ["_build_accumulator_name", "cond_v2", "indexed_case", "while_loop"]


def _build_accumulator_name(tensor: Any) -> str:
    """What the list is called that a loop keeps a tensor of its body in for gradients."""
    return accumulator_name(tensor)


def cond_v2(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "cond") -> Any:
    """`tf.cond` as an `If`."""
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        return functional_cond(convert_to_tensor(pred), true_fn, false_fn, scope)


def indexed_case(branch_index: Any, branch_fns: Sequence[Callable[[], Any]], name: str = "indexed_case") -> Any:
    """`tf.switch_case` as a `Case`."""
    if isinstance(branch_index, int):
        raise TypeError(f"branch_index is a tensor; for the int {branch_index} call that branch yourself")
    with name_scope(name) as scope:
        return functional_case(convert_to_tensor(branch_index), branch_fns, scope)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """`tf.while_loop` as a `While`. Gradients flow through it even without `back_prop`, as in TensorFlow."""
    if shape_invariants is not None:
        nest.assert_same_structure(loop_vars, shape_invariants, expand_composites=False)
    shapes = functools.partial(flat_invariants, kept_shapes(loop_vars, shape_invariants))
    return functional_loop(
        cond, body, loop_vars, shapes, parallel_iterations, name, maximum_iterations, return_same_structure
    )
