"""Stacks of recurrent layers as one op. The formulas and the order of gates are cuDNN's, which are also torch's own.

All parameters are one vector: for each layer and direction the matrices of the inputs, then those of the state, a gate
each; after all matrices the biases in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.kernels.facts import Effect, view
from everflow.kernels.random.distributions import RESERVED_PER_VALUE, stream_of, uniform
from everflow.kernels.registry import fresh, kernel, library
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session

_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_TORCH: dict[str, Callable] = {
    "lstm": torch.lstm,
    "gru": torch.gru,
    "rnn_tanh": torch.rnn_tanh,
    "rnn_relu": torch.rnn_relu,
}


def _check(input_mode: str, input_size: int, units: int) -> None:
    if input_mode == "skip_input" or (input_mode == "auto_select" and input_size == units):
        raise UnimplementedError(None, None, "input_mode 'skip_input': layers without matrices of the inputs")


def _sizes(rnn_mode: str, direction: str, layers: int, units: int, input_size: int) -> list[tuple[int, int]]:
    """The shapes of the matrices, gate by gate, and how many biases there are."""
    gates, directions = _GATES[rnn_mode], 2 if direction == "bidirectional" else 1
    shapes = []
    for layer in range(layers):
        depth = input_size if layer == 0 else units * directions
        shapes += ([(units, depth)] * gates + [(units, units)] * gates) * directions
    return shapes


def _cut(
    params: torch.Tensor, rnn_mode: str, direction: str, layers: int, units: int, input_size: int
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """(matrices, biases) of the vector, gate by gate."""
    shapes = _sizes(rnn_mode, direction, layers, units, input_size)
    total = sum(rows * columns for rows, columns in shapes) + len(shapes) * units
    if params.numel() != total:
        raise InvalidArgumentError(
            None, None, f"Expected {total} parameters of the recurrent network, got {params.numel()}"
        )
    pieces = params.split([rows * columns for rows, columns in shapes] + [units] * len(shapes))
    return [p.reshape(s) for p, s in zip(pieces, shapes)], list(pieces[len(shapes) :])


def _by_layer(
    params: torch.Tensor, rnn_mode: str, direction: str, layers: int, units: int, input_size: int
) -> list[list[torch.Tensor]]:
    """Torch's parameters of each layer: matrix of the inputs, of the state, and their biases, for each direction."""
    gates, directions = _GATES[rnn_mode], 2 if direction == "bidirectional" else 1
    matrices, biases = _cut(params, rnn_mode, direction, layers, units, input_size)
    joined = [torch.cat(part[i : i + gates]) for i in range(0, len(matrices), gates) for part in (matrices, biases)]
    # Pairs (matrix, bias) of inputs and state → matrix, matrix, bias, bias.
    flat = [joined[i + k] for i in range(0, len(joined), 4) for k in (0, 2, 1, 3)]
    return [flat[i : i + 4 * directions] for i in range(0, len(flat), 4 * directions)]


def _forward(
    x: torch.Tensor,
    h: torch.Tensor,
    c: torch.Tensor,
    params: torch.Tensor,
    masks: torch.Tensor | None,
    lengths: torch.Tensor | None,
    rnn_mode: str,
    input_mode: str,
    direction: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(outputs, last h, last c) of time-major inputs; `masks` multiply what goes from layer to layer."""
    both = direction == "bidirectional"
    directions = 2 if both else 1
    layers, units = h.shape[0] // directions, h.shape[2]
    _check(input_mode, x.shape[2], units)
    steps, batch_sizes = x.shape[0], None
    if lengths is not None:
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), enforce_sorted=False)
        x, batch_sizes, order, back, *_ = (
            packed.data,
            packed.batch_sizes,
            packed.sorted_indices,
            packed.unsorted_indices,
        )
        h, c = h[:, order], c[:, order] if rnn_mode == "lstm" else c
    last_h, last_c = [], []
    for layer, weights in enumerate(_by_layer(params, rnn_mode, direction, layers, units, x.shape[-1])):
        here = slice(layer * directions, (layer + 1) * directions)
        hx = (h[here].contiguous(), c[here].contiguous()) if rnn_mode == "lstm" else h[here].contiguous()
        if layer and masks is not None:
            x = x * masks[layer - 1]
        if batch_sizes is None:
            x, *state = _TORCH[rnn_mode](x, hx, weights, True, 1, 0.0, True, both, False)
        else:
            x, *state = _TORCH[rnn_mode](x, batch_sizes, hx, weights, True, 1, 0.0, True, both)
        last_h.append(state[0])
        last_c += state[1:]
    h, c = torch.cat(last_h), torch.cat(last_c) if last_c else x.new_zeros(())
    if batch_sizes is not None:
        whole = torch.nn.utils.rnn.PackedSequence(x, batch_sizes, order, back)
        x, _ = torch.nn.utils.rnn.pad_packed_sequence(whole, total_length=steps)
        h, c = h[:, back], c[:, back] if rnn_mode == "lstm" else c
    return x, h, c


def _masks(
    x: torch.Tensor,
    h: torch.Tensor,
    dropout: float,
    direction: str,
    is_training: bool,
    lengths: torch.Tensor | None,
    node: Node,
    session: Session,
) -> torch.Tensor | None:
    """What dropout leaves of the values between layers, drawn anew: [layers - 1, ...]; None where nothing is dropped."""
    directions = 2 if direction == "bidirectional" else 1
    layers = h.shape[0] // directions
    if not (is_training and dropout > 0 and layers > 1):
        return None
    rows = (x.shape[0], x.shape[1]) if lengths is None else (int(lengths.sum()),)
    shape = [layers - 1, *rows, h.shape[2] * directions]
    place = stream_of(node, session).reserve(math.prod(shape) * RESERVED_PER_VALUE)
    return (uniform(place, shape, dtypes.float32) >= dropout).to(x.dtype) / (1 - dropout)


def _run(
    x: torch.Tensor,
    h: torch.Tensor,
    c: torch.Tensor,
    params: torch.Tensor,
    lengths: torch.Tensor | None,
    rnn_mode: str,
    input_mode: str,
    direction: str,
    dropout: float,
    is_training: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    masks = _masks(x, h, dropout, direction, is_training, lengths, node, session)
    with torch.no_grad():
        made = _forward(x, h, c, params, masks, lengths, rnn_mode, input_mode, direction)
    # What the backward pass needs beside its other inputs.
    return (*made, x.new_zeros(0) if masks is None else masks.reshape(-1))


@library("CudnnRNN", effect=Effect.RANDOM)
def cudnn_rnn(
    input: torch.Tensor,
    input_h: torch.Tensor,
    input_c: torch.Tensor,
    params: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
    dropout: float,
    is_training: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    return _run(
        input, input_h, input_c, params, None, rnn_mode, input_mode, direction, dropout, is_training, node, session
    )


@library("CudnnRNNV2", effect=Effect.RANDOM)
def cudnn_rnn_v2(
    input: torch.Tensor,
    input_h: torch.Tensor,
    input_c: torch.Tensor,
    params: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
    dropout: float,
    is_training: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, ...]:
    made = _run(
        input, input_h, input_c, params, None, rnn_mode, input_mode, direction, dropout, is_training, node, session
    )
    return (*made, torch.zeros(0, dtype=torch.int8))


@library("CudnnRNNV3", effect=Effect.RANDOM)
def cudnn_rnn_v3(
    input: torch.Tensor,
    input_h: torch.Tensor,
    input_c: torch.Tensor,
    params: torch.Tensor,
    sequence_lengths: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
    dropout: float,
    num_proj: int,
    is_training: bool,
    time_major: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, ...]:
    if num_proj:
        raise UnimplementedError(None, None, "num_proj: projections of the state")
    x, h, c = _time_first(time_major, input, input_h, input_c)
    x, h, c, reserve = _run(
        x, h, c, params, sequence_lengths, rnn_mode, input_mode, direction, dropout, is_training, node, session
    )
    return (*_time_first(time_major, x, h, c), reserve, torch.zeros(0, dtype=torch.int8))


def _time_first(time_major: bool, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Inputs and states with the batch first or second; the exchange is its own inverse."""
    return tensors if time_major else tuple(t.transpose(0, 1) if t.dim() == 3 else t for t in tensors)


def _backprop(
    x: torch.Tensor,
    h: torch.Tensor,
    c: torch.Tensor,
    params: torch.Tensor,
    grads: tuple[torch.Tensor, ...],
    reserve: torch.Tensor,
    lengths: torch.Tensor | None,
    rnn_mode: str,
    input_mode: str,
    direction: str,
) -> tuple[torch.Tensor, ...]:
    masks = None
    if reserve.numel():
        directions = 2 if direction == "bidirectional" else 1
        rows = (x.shape[0], x.shape[1]) if lengths is None else (int(lengths.sum()),)
        masks = reserve.reshape(-1, *rows, h.shape[2] * directions)
    with torch.enable_grad():
        x, h, c, params = leaves = [t.detach().requires_grad_() for t in (x, h, c, params)]
        made = _forward(x, h, c, params, masks, lengths, rnn_mode, input_mode, direction)
        pairs = [(out, grad) for out, grad in zip(made, grads) if out.requires_grad]
        found = torch.autograd.grad([out for out, _ in pairs], leaves, [grad for _, grad in pairs], allow_unused=True)
    return tuple(torch.zeros_like(leaf) if grad is None else grad for grad, leaf in zip(found, leaves))


@library("CudnnRNNBackprop", effect=Effect.PURE)
def cudnn_rnn_backprop(
    input: torch.Tensor,
    input_h: torch.Tensor,
    input_c: torch.Tensor,
    params: torch.Tensor,
    output: torch.Tensor,
    output_h: torch.Tensor,
    output_c: torch.Tensor,
    output_backprop: torch.Tensor,
    output_h_backprop: torch.Tensor,
    output_c_backprop: torch.Tensor,
    reserve_space: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
) -> tuple[torch.Tensor, ...]:
    grads = (output_backprop, output_h_backprop, output_c_backprop)
    return _backprop(input, input_h, input_c, params, grads, reserve_space, None, rnn_mode, input_mode, direction)


@library("CudnnRNNBackpropV2", effect=Effect.PURE)
def cudnn_rnn_backprop_v2(
    input: torch.Tensor,
    input_h: torch.Tensor,
    input_c: torch.Tensor,
    params: torch.Tensor,
    output: torch.Tensor,
    output_h: torch.Tensor,
    output_c: torch.Tensor,
    output_backprop: torch.Tensor,
    output_h_backprop: torch.Tensor,
    output_c_backprop: torch.Tensor,
    reserve_space: torch.Tensor,
    host_reserved: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
) -> tuple[torch.Tensor, ...]:
    grads = (output_backprop, output_h_backprop, output_c_backprop)
    return _backprop(input, input_h, input_c, params, grads, reserve_space, None, rnn_mode, input_mode, direction)


@library("CudnnRNNBackpropV3", effect=Effect.PURE)
def cudnn_rnn_backprop_v3(
    input: torch.Tensor,
    input_h: torch.Tensor,
    input_c: torch.Tensor,
    params: torch.Tensor,
    sequence_lengths: torch.Tensor,
    output: torch.Tensor,
    output_h: torch.Tensor,
    output_c: torch.Tensor,
    output_backprop: torch.Tensor,
    output_h_backprop: torch.Tensor,
    output_c_backprop: torch.Tensor,
    reserve_space: torch.Tensor,
    host_reserved: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
    time_major: bool,
) -> tuple[torch.Tensor, ...]:
    x, h, c = _time_first(time_major, input, input_h, input_c)
    grads = _time_first(time_major, output_backprop, output_h_backprop, output_c_backprop)
    *found, params_grad = _backprop(
        x, h, c, params, grads, reserve_space, sequence_lengths, rnn_mode, input_mode, direction
    )
    return (*_time_first(time_major, *found), params_grad)


@fresh("CudnnRNNParamsSize")
def cudnn_rnn_params_size(
    num_layers: torch.Tensor,
    num_units: torch.Tensor,
    input_size: torch.Tensor,
    *,
    S: DType,
    rnn_mode: str,
    input_mode: str,
    direction: str,
) -> torch.Tensor:
    _check(input_mode, int(input_size), int(num_units))
    shapes = _sizes(rnn_mode, direction, int(num_layers), int(num_units), int(input_size))
    total = sum(rows * columns for rows, columns in shapes) + len(shapes) * int(num_units)
    return torch.tensor([total], dtype=torch_dtype(S))


@fresh("CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2")
def cudnn_rnn_canonical_to_params(
    num_layers: torch.Tensor,
    num_units: torch.Tensor,
    input_size: torch.Tensor,
    weights: list[torch.Tensor],
    biases: list[torch.Tensor],
    *,
    input_mode: str,
) -> torch.Tensor:
    _check(input_mode, int(input_size), int(num_units))
    return torch.cat([t.reshape(-1) for t in (*weights, *biases)])


@kernel("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2", result=view(3))
def cudnn_rnn_params_to_canonical(
    num_layers: torch.Tensor,
    num_units: torch.Tensor,
    input_size: torch.Tensor,
    params: torch.Tensor,
    *,
    rnn_mode: str,
    input_mode: str,
    direction: str,
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    _check(input_mode, int(input_size), int(num_units))
    matrices, biases = _cut(params, rnn_mode, direction, int(num_layers), int(num_units), int(input_size))
    return matrices, biases
