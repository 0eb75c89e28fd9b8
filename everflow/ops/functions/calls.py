"""`If`, `While`, `For` and calls of functions as ops: what `tf.cond` and `tf.while_loop` draw, for those who have the
functions already.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.ops import math
from everflow.ops.functions.defun import Defun


def _known(*functions):
    """Let the graph know functions before an op names them."""
    for function in functions:
        function.add_to_graph(get_default_graph())
    return functions


def _result_types(function):
    return [arg.type for arg in function.op_definition.outputs]


def If(cond, inputs, then_branch, else_branch, name=None):
    """What `then_branch(*inputs)` gives where `cond` is true (or not zero, or not empty), else what
    `else_branch(*inputs)` gives; as a list.
    """
    _known(then_branch, else_branch)
    inputs = [*inputs, *then_branch.captured_inputs]
    return raw.If(
        cond=cond,
        input=inputs,
        Tout=_result_types(then_branch),
        then_branch=then_branch,
        else_branch=else_branch,
        name=name,
    )


def While(input_, cond, body, name=None, hostmem=None):
    """`input_ = body(*input_)` as long as `cond(*input_)` holds; returns the last values as a list. `hostmem` are
    inputs that stay on the host.
    """
    _known(cond, body)
    if body.captured_inputs or cond.captured_inputs:
        raise ValueError("While takes functions that use nothing of the graph around: pass it in input_")
    result = raw.While(input=list(input_), cond=cond, body=body, name=name)
    op = result[0].op
    for tensor, given in zip(op.outputs, op.inputs):
        tensor.set_shape(given.shape)
    if hostmem:
        op.attrs["_input_hostmem"] = op.attrs["_output_hostmem"] = list(hostmem)
    return result


def For(start, limit, delta, inputs, body, name=None, hostmem=None, rewrite_with_while=None):
    """`inputs = body(i, *inputs)` for each i from `start` to `limit` by `delta`; returns the last values as a list."""
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name, hostmem)
    _known(body)
    result = raw.For(start=start, limit=limit, delta=delta, input=list(inputs), body=body, name=name)
    if hostmem:
        # The first three inputs are the range, which is always there.
        op = result[0].op
        op.attrs["_input_hostmem"] = [3 + i for i in hostmem]
        op.attrs["_output_hostmem"] = list(hostmem)
    return result


def _for_as_while(start, limit, delta, inputs, body, name, hostmem):
    size = math.abs(delta)
    span = math.abs(limit - start) + size - 1
    count = math.cast(math.cast(span, dtypes.float32) / math.cast(size, dtypes.float32), dtypes.int32)

    def more(i, n, first, step, *values):
        return i < n

    def again(i, n, first, step, *values):
        made = body(first + i * step, *values)
        made = [] if made is None else [made] if isinstance(made, Tensor) else list(made)
        return [i + 1, n, first, step, *made]

    declare = [dtypes.int32] * 4 + list(body.declared_input_types[1:])
    cond = Defun(*declare, func_name=f"{body.name}_Cond")(more)
    step = Defun(*declare, func_name=f"{body.name}_Body")(again)
    kept = [0, 1, 2, 3] + [4 + i for i in hostmem or ()]
    return While([0, count, start, delta, *inputs], cond, step, name=name, hostmem=kept)[4:]


def remote_call(target, args, Tout, f, name=None):
    """What `f(*args)` gives, computed on the device `target`."""
    _known(f)
    return raw.RemoteCall(target=target, args=list(args), Tout=Tout, f=f, name=name)
