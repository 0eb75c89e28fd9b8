"""Recurrent networks as one op (CudnnRNN): shapes and gradients."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.ops.shape_rules import vector_output

_VERSIONS = ("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
_SETTINGS = ("rnn_mode", "input_mode", "direction", "dropout", "seed", "seed2")


@shape_rule(*_VERSIONS)
def _network_shapes(op):
    x, h = op.inputs[0].shape.with_rank(3), op.inputs[1].shape.with_rank(3)
    directions = 2 if op.attrs["direction"] == b"bidirectional" else 1
    units = h.size(2)
    output = TensorShape([x[0], x[1], None if units is None else units * directions])
    last_c = h if op.attrs["rnn_mode"] == b"lstm" else TensorShape([])
    shapes = [output, h, last_c, unknown_shape()]
    return shapes if op.type == "CudnnRNN" else [*shapes, unknown_shape()]


@shape_rule("CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3")
def _backprop_shapes(op):
    return [t.shape for t in op.inputs[:4]]


@shape_rule("CudnnRNNParamsSize")
def _size_shape(op):
    return TensorShape([1])


shape_rule("CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2")(vector_output)


@shape_rule("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2")
def _canonical_shapes(op):
    weights = op.attrs.get("num_params") or op.attrs["num_params_weights"]
    biases = op.attrs.get("num_params") or op.attrs["num_params_biases"]
    return [TensorShape([None, None])] * weights + [TensorShape([None])] * biases


@gradient(*_VERSIONS)
def _network_grad(op, *grads):
    """The op's other results are for its own backward pass: their gradients don't count."""
    if not op.get_attr("is_training"):
        raise ValueError(f"{op.name!r} has no gradient, as it was made with is_training=False")
    settings = {name: op.get_attr(name) for name in _SETTINGS}
    output, output_h, output_c, reserve_space, *host_reserved = op.outputs
    inputs = dict(zip(("input", "input_h", "input_c", "params", "sequence_lengths"), op.inputs, strict=False))
    if host_reserved:
        inputs["host_reserved"] = host_reserved[0]
    if op.type == "CudnnRNNV3":
        settings.update(num_proj=op.get_attr("num_proj"), time_major=op.get_attr("time_major"))
    build = {
        "CudnnRNN": raw.CudnnRNNBackprop,
        "CudnnRNNV2": raw.CudnnRNNBackpropV2,
        "CudnnRNNV3": raw.CudnnRNNBackpropV3,
    }[op.type]
    made = build(
        **inputs,
        output=output,
        output_h=output_h,
        output_c=output_c,
        output_backprop=grads[0],
        output_h_backprop=grads[1],
        output_c_backprop=grads[2],
        reserve_space=reserve_space,
        **settings,
    )
    return [*made, None] if op.type == "CudnnRNNV3" else list(made)


not_differentiable("CudnnRNNParamsSize", "CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3")
not_differentiable(
    "CudnnRNNCanonicalToParams",
    "CudnnRNNCanonicalToParamsV2",
    "CudnnRNNParamsToCanonical",
    "CudnnRNNParamsToCanonicalV2",
)
