"""`If`, `While`, `For` and calls of functions as ops: what `tf.cond` and `tf.while_loop` draw, for those who have the
functions already.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph
from everflow.ops import math
from everflow.ops.functions.defun import Defun, call
from everflow.protos import config_pb2


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
    if cond.captured_inputs:
        raise ValueError("While's cond must use nothing of the graph around: pass it in input_")
    input_, count, captured = [convert_to_tensor(x) for x in input_], len(input_), body.captured_inputs
    if len(_result_types(cond)) != 1:
        raise InvalidArgumentError(
            None, None, f"Expected a single scalar from the loop's condition, got {len(_result_types(cond))} tensors."
        )
    if len(_result_types(body)) != count:
        raise InvalidArgumentError(
            None, None, f"While loop body returned {len(_result_types(body))} arguments. Expected: {count}"
        )
    if _result_types(body) != [t.dtype.base_dtype for t in input_]:
        given = [t.dtype.name for t in input_]
        raise InvalidArgumentError(None, None, f"A loop over {given} has a body that gives {_result_types(body)}")
    if captured:
        cond, body = _taking(cond, captured, count, hands_on=False), _taking(body, captured, count)
    result = raw.While(input=[*input_, *captured], cond=cond, body=body, name=name)[:count]
    op = result[0].op
    for tensor, given in zip(op.outputs, op.inputs):
        tensor.set_shape(given.shape)
    if hostmem:
        op.attrs["_input_hostmem"] = op.attrs["_output_hostmem"] = list(hostmem)
    return result


def _taking(function, captured, count, hands_on=True):
    """A function that takes, after `count` arguments, what another one uses of the graph around, and hands it on."""

    def wrapped(*args):
        graph = get_default_graph()
        function.add_to_graph(graph)
        given = args if function.captured_inputs else args[:count]
        made = call(graph, function._function(), list(given))
        results = [made] if isinstance(made, Tensor) else [] if isinstance(made, Operation) else list(made)
        return [*results, *args[count:]] if hands_on else results

    types = [*function.declared_input_types, *(t.dtype for t in captured)]
    made = Defun(*types, func_name=f"{function.name}_Wrapper")(wrapped)
    return _known(made)[0]


def partitioned_call(args, f, tout=None, executing_eagerly=None, config=None, executor_type=None):
    """What `f(*args)` gives, as a list, by an op that may spread the function over devices."""
    _known(f)
    build = raw.StatefulPartitionedCall if f.stateful_ops else raw.PartitionedCall
    if config is None:
        # The function's nodes are taken as they are.
        settings = config_pb2.ConfigProto()
        settings.graph_options.rewrite_options.disable_meta_optimizer = True
        config = settings.SerializeToString()
    return build(
        args=list(args),
        Tout=tout or _result_types(f),
        f=f,
        config_proto=config,
        executor_type=executor_type or "",
    )


def For(start, limit, delta, inputs, body, name=None, hostmem=None, rewrite_with_while=None):
    """`inputs = body(i, *inputs)` for each i from `start` to `limit` by `delta`; returns the last values as a list."""
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name, hostmem)
    _known(body)
    inputs, captured = list(inputs), body.captured_inputs
    count = len(inputs)
    if captured:
        body = _taking(body, captured, count + 1)
    result = raw.For(start=start, limit=limit, delta=delta, input=[*inputs, *captured], body=body, name=name)[:count]
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
        made = [made] if isinstance(made, Tensor) else [] if isinstance(made, (Operation, type(None))) else list(made)
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
