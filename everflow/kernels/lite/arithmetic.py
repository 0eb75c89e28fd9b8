"""Element-wise ops, reductions and activations on floats and plain integers."""

from __future__ import annotations

import torch

from everflow.formats.tflite import ACTIVATIONS, TYPES
from everflow.framework import dtypes
from everflow.kernels.lite.registry import Call, lite, tensorflow_op

# Ops that are TensorFlow's, without options.
_SAME = {
    "ABS": "Abs", "CEIL": "Ceil", "COS": "Cos", "ELU": "Elu", "EXP": "Exp", "FLOOR": "Floor", "LOG": "Log", "LOGISTIC": "Sigmoid", "NEG": "Neg",
    "ROUND": "Round", "RSQRT": "Rsqrt", "SIN": "Sin", "SQRT": "Sqrt", "SQUARE": "Square", "TANH": "Tanh", "RELU": "Relu", "RELU6": "Relu6",
    "LOG_SOFTMAX": "LogSoftmax", "ZEROS_LIKE": "ZerosLike",
    "LESS": "Less", "LESS_EQUAL": "LessEqual", "GREATER": "Greater", "GREATER_EQUAL": "GreaterEqual",
    "LOGICAL_AND": "LogicalAnd", "LOGICAL_OR": "LogicalOr", "LOGICAL_NOT": "LogicalNot",
    "POW": "Pow", "FLOOR_DIV": "FloorDiv", "FLOOR_MOD": "FloorMod", "MAXIMUM": "Maximum", "MINIMUM": "Minimum",
    "SQUARED_DIFFERENCE": "SquaredDifference",
}  # fmt: skip
for _name, _op in _SAME.items():
    lite(_name)(lambda call, *inputs, _op=_op: tensorflow_op(_op, *inputs))
for _name, _op in {"EQUAL": "Equal", "NOT_EQUAL": "NotEqual"}.items():
    lite(_name)(lambda call, a, b, _op=_op: tensorflow_op(_op, a, b, incompatible_shape_error=True))

_ACTIVATE = {
    "NONE": lambda x: x,
    "RELU": torch.relu,
    "RELU_N1_TO_1": lambda x: x.clamp(-1, 1),
    "RELU6": lambda x: x.clamp(0, 6),
    "TANH": torch.tanh,
    "SIGN_BIT": lambda x: (x < 0).to(x.dtype),
}


def activate(x: torch.Tensor, code: int) -> torch.Tensor:
    """The activation that is fused into an op."""
    return _ACTIVATE[ACTIVATIONS[code]](x)


# With an activation fused in. Division of integers goes towards zero.
_FUSED = {
    "ADD": torch.add,
    "SUB": torch.sub,
    "MUL": torch.mul,
    "DIV": lambda a, b: torch.div(a, b) if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc"),
}
for _name, _function in _FUSED.items():
    lite(_name)(lambda call, a, b, _f=_function: activate(_f(a, b), call.options.fused_activation_function))

_REDUCTIONS = {
    "SUM": "Sum",
    "MEAN": "Mean",
    "REDUCE_PROD": "Prod",
    "REDUCE_MAX": "Max",
    "REDUCE_MIN": "Min",
    "REDUCE_ANY": "Any",
}
for _name, _op in _REDUCTIONS.items():
    lite(_name)(lambda call, x, axes, _op=_op: tensorflow_op(_op, x, axes, keep_dims=call.options.keep_dims))


@lite("ADD_N")
def add_n(call: Call, *inputs: torch.Tensor) -> torch.Tensor:
    return sum(inputs[1:], inputs[0])


@lite("RELU_N1_TO_1")
def relu_n1_to_1(call: Call, x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-1, 1)


@lite("LEAKY_RELU")
def leaky_relu(call: Call, x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x, x * call.options.alpha)


@lite("PRELU")
def prelu(call: Call, x: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    return torch.where(x >= 0, x, x * alpha)


@lite("HARD_SWISH")
def hard_swish(call: Call, x: torch.Tensor) -> torch.Tensor:
    return x * (x + 3).clamp(0, 6) / 6


@lite("SOFTMAX")
def softmax(call: Call, x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * call.options.beta, -1)


@lite("CAST")
def cast(call: Call, x: torch.Tensor) -> torch.Tensor:
    return tensorflow_op(
        "Cast",
        x,
        SrcT=dtypes.as_dtype(call.inputs[0].dtype),
        DstT=dtypes.as_dtype(call.outputs[0].dtype),
        Truncate=False,
    )


@lite("ARG_MAX", "ARG_MIN")
def arg_extreme(call: Call, x: torch.Tensor, axis: torch.Tensor) -> torch.Tensor:
    op = "ArgMax" if call.name == "ARG_MAX" else "ArgMin"
    return tensorflow_op(op, x, axis, output_type=dtypes.as_dtype(TYPES[call.options.output_type]))


@lite("FAKE_QUANT")
def fake_quant(call: Call, x: torch.Tensor) -> torch.Tensor:
    o = call.options
    return tensorflow_op(
        "FakeQuantWithMinMaxArgs", x, min=o.min, max=o.max, num_bits=o.num_bits, narrow_range=o.narrow_range
    )
