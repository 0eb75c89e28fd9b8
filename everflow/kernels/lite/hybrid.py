"""Layers on floats whose weights are 8-bit integers: the input of each batch is rounded to 8 bits, too, and the sums
are scaled back.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from everflow.kernels.lite import layers
from everflow.kernels.lite.arithmetic import activate
from everflow.kernels.lite.quantized import dequantize
from everflow.kernels.lite.registry import HYBRID, Call, Operand, lite
from everflow.kernels.tensors import from_numpy


def symmetric(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows as integers from -127 to 127, and the scale of each row."""
    rows = x.reshape(x.shape[0], -1)
    largest = rows.abs().amax(1, keepdim=True)
    inverse = torch.where(largest > 0, 127.0 / largest, torch.zeros_like(largest))
    scaled = rows * inverse
    rounded = torch.trunc(scaled + torch.copysign(torch.tensor(0.5), scaled)).clamp(-127, 127)
    return rounded.reshape(x.shape), torch.where(largest > 0, largest / 127.0, torch.ones_like(largest))


def weights_of(w: torch.Tensor, operand: Operand) -> torch.Tensor:
    """8-bit weights as doubles. Old files keep them as unsigned bytes that stand for signed ones."""
    return w.view(torch.int8).to(torch.float64) if operand.dtype.kind == "u" else w.to(torch.float64)


def _layer(sums: Callable[..., torch.Tensor], batch: Callable) -> Callable[..., torch.Tensor]:
    def compute(call: Call, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        operand = call.inputs[1]
        rounded, scale = symmetric(batch(x, w))
        total = sums(call.options, rounded.to(torch.float64), weights_of(w, operand)).to(torch.float32)
        total = total * (scale.reshape([-1] + [1] * (total.ndim - 1)) * float(operand.step))
        return activate(total if bias is None else total + bias, call.options.fused_activation_function)

    return compute


lite("CONV_2D", kind=HYBRID)(_layer(layers.convolve, lambda x, w: x))
lite("FULLY_CONNECTED", kind=HYBRID)(_layer(layers.connect, lambda x, w: x.reshape(-1, w.shape[-1])))


@lite("EMBEDDING_LOOKUP", kind=HYBRID)
def embedding_lookup(call: Call, indices: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return from_numpy(dequantize(table[indices.long()], call.inputs[1]))
