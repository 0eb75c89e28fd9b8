"""An operator of TensorFlow Lite computed alone: by its name, its operands and its options."""

from types import SimpleNamespace

import numpy as np
import torch

from everflow.formats.tflite import ACTIVATIONS
from everflow.kernels.lite import registry
from everflow.kernels.lite.registry import Call, Operand


def quantized(dtype, scale, zero=0):
    """How a tensor of integers stands for reals."""
    scales = np.atleast_1d(np.float32(scale))
    return Operand(np.dtype(dtype), scales, np.full(len(scales), zero, np.int64))


def floats(operand, values):
    """The reals that integers stand for."""
    return (np.asarray(values, np.float64) - int(operand.zero_point[0])) * np.float64(operand.scale)


def compute(name, *inputs, outputs=None, operands=None, activation="NONE", **options):
    """The result of an operator on arrays; operands that are not given are plain tensors of their arrays' types."""
    operands = operands or [None if x is None else Operand(np.asarray(x).dtype) for x in inputs]
    outputs = outputs or [Operand(np.dtype(np.float32))]
    call = Call(
        name,
        SimpleNamespace(fused_activation_function=ACTIVATIONS.index(activation), **options),
        tuple(operands),
        tuple(outputs),
    )
    values = [None if x is None else torch.from_numpy(np.array(x)) for x in inputs]
    return registry.find(call)(call, *values)
