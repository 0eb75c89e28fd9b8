"""Batches across runs: build functions and shapes."""

from __future__ import annotations

import functools

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, shape_rule
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops.functions.traced import function


def nondifferentiable_batch_function(
    num_batch_threads,
    max_batch_size,
    batch_timeout_micros,
    allowed_batch_sizes=None,
    max_enqueued_batches=10,
    autograph=True,
):
    """A decorator: what runs call the function with at the same time is one batch for it, at most `max_batch_size` rows.

    Args:
        num_batch_threads: How many batches are worked on at the same time.
        max_batch_size: The most rows of a batch.
        batch_timeout_micros: How long, in microseconds, is waited for more rows.
        allowed_batch_sizes: The sizes that batches are filled up to; any if None.
        max_enqueued_batches: The most batches that wait.
        autograph: Whether `if`, `while` and `for` over tensors become parts of the graph.

    Returns:
        A decorator.

    Example:
        >>> @tf.nondifferentiable_batch_function(1, 10, 5000)
        ... def double(rows):
        ...     return 2 * rows
        >>> sess.run(double(tf.constant([[1], [2]])))
        [array([[2],
               [4]], dtype=int32)]
    """

    def decorate(fn):
        @functools.wraps(fn)
        def batched(*args):
            with name_scope("batch") as scope:
                tensors = [convert_to_tensor(a) for a in args]

                def computation(*given):
                    return fn(*given)

                specs = [
                    TensorSpec(t.shape.with_rank_at_least(1) if t.shape.rank else t.shape, t.dtype) for t in tensors
                ]
                traced = function(computation, autograph=autograph).get_concrete_function(*specs)
                traced.add_to_graph(get_default_graph())
                return raw.BatchFunction(
                    in_tensors=tensors,
                    captured_tensors=traced.captured_inputs,
                    f=traced,
                    Tout=[t.dtype for t in traced.outputs],
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=allowed_batch_sizes or [],
                    max_enqueued_batches=max_enqueued_batches,
                    shared_name=scope,
                )

        return batched

    return decorate


batch_function = nondifferentiable_batch_function


@shape_rule("Batch")
def _batch_shapes(op):
    rows = []
    for tensor in op.inputs:
        shape = tensor.shape.with_rank_at_least(1)
        rows.append(TensorShape(None) if shape.rank is None else TensorShape([None, *shape.dims[1:]]))
    return [*rows, TensorShape([None, 3]), TensorShape([])]


@shape_rule("Unbatch", "UnbatchGrad")
def _unbatched_shape(op):
    shape = op.inputs[0 if op.type == "Unbatch" else 2].shape
    return shape if shape.rank is None else TensorShape([None, *shape.dims[1:]])


# What was apart is joined for gradients, and the other way round.


@gradient("Batch")
def _batch_grad(op, *grads):
    *_, index, number = op.outputs
    timeout = op.get_attr("grad_timeout_micros")
    return [
        raw.Unbatch(grad, index, number, timeout_micros=timeout, shared_name=f"batch_gradient_{op.name}_{i}")
        for i, grad in enumerate(grads[: len(op.inputs)])
    ]


@gradient("Unbatch")
def _unbatch_grad(op, grad):
    whole, index, number = op.inputs
    name = f"unbatch_gradient_{op.name}"
    return [raw.UnbatchGrad(whole, index, grad, number, shared_name=name), None, None]
