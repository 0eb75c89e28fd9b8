"""Parts of a net that hints mark, as one operator each: recurrent layers as the built-in ones, others as custom ops."""

from __future__ import annotations

import numpy as np

from everflow.formats.tflite import ACTIVATIONS
from everflow.lite.custom_options import encode_attributes
from everflow.lite.lowering import ConverterError
from everflow.lite.net import Net
from everflow.lite.op_hints import OpHint, counted, hinted_parts, settings
from everflow.lite.reading import name_of


def collapse(net: Net, operations) -> None:
    """Put one operator in the place of every marked part; what was inside goes away when the net is pruned."""
    parts = hinted_parts(operations, lambda op: op.attrs.get)
    for part in parts.values():
        inputs = {index: _gathered(net, counted(marks)) for index, marks in part.inputs.items()}
        outputs = {index: _spread(net, counted(marks)) for index, marks in part.outputs.items()}
        _BUILTIN.get(part.function, _custom)(net, part, inputs, outputs)
    if parts:
        _in_order(net)


def _gathered(net, marks) -> str:
    """The array of an input: that of its mark, or several stacked."""
    names = [name_of(mark.node.outputs[0]) for mark in marks]
    if marks[0].aggregate != OpHint.AGGREGATE_STACK:
        return names[0]
    stacked = _stack_of(net, names, "OpHintStack")
    net.add("PACK", names, [stacked], {"values_count": len(names), "axis": 0})
    return stacked


def _spread(net, marks) -> str:
    """The array of an output, from which its marks are taken."""
    names = [name_of(mark.node.outputs[0]) for mark in marks]
    for node in [net.producer(name) for name in names]:
        net.remove(node)
    if marks[0].aggregate != OpHint.AGGREGATE_STACK:
        return names[0]
    stacked = _stack_of(net, names, "OpHintUnstack")
    net.add("UNPACK", [stacked], names, {"num": len(names), "axis": 0})
    return stacked


def _stack_of(net, names, prefix) -> str:
    shape = net.shape(names[0])
    dtype, shape = net.arrays[names[0]].dtype, None if shape is None else (len(names), *shape)
    return net.array(f"{prefix}-{names[0]}", dtype, shape)


def _custom(net, part, inputs, outputs):
    node = net.add(part.function, [inputs[i] for i in sorted(inputs)], [outputs[i] for i in sorted(outputs)])
    node.is_custom, node.custom = True, encode_attributes(settings.get(part.unique, {}))


def _state(net, part, name) -> str:
    """A variable of the model in the place of a state that starts with zeros."""
    source = net.producer(name)
    value = net.value(source.inputs[0] if source is not None else name)
    if value is None or value.any():
        raise ConverterError(f"The states of {part.function} must start as zeros in TensorFlow Lite")
    made = net.array(net.free_name(f"{name}/state"), np.float32, value.shape)
    net.arrays[made].is_variable = True
    return made


def _check_no_state_needed(net, part, state) -> None:
    """The last memory of a layer is no output of its op in TensorFlow Lite."""
    reached, more = set(), {state}
    while more:
        reached |= more
        more = {name for node in net.nodes if reached.intersection(node.inputs) for name in node.outputs} - reached
    if reached.intersection(net.outputs):
        raise ConverterError(f"{part.function} gives the outputs of its steps only, but the model uses its last memory")


def _activation(part) -> int:
    """The code of the activation that a cell's hint was told; hints from elsewhere mean tanh."""
    name = settings.get(part.unique, {}).get("activation", "tanh").upper()
    if name not in ACTIVATIONS:
        raise ConverterError(f"{part.function} can't have the activation {name.lower()}")
    return ACTIVATIONS.index(name)


def _lstm(net, part, inputs, outputs):
    given = [inputs.get(i) for i in range(20)]
    given[18], given[19] = _state(net, part, given[18]), _state(net, part, given[19])
    clips = {key: float(settings.get(part.unique, {}).get(key) or 0) for key in ("cell_clip", "proj_clip")}
    options = {"fused_activation_function": _activation(part), "time_major": True, **clips}
    net.add("UNIDIRECTIONAL_SEQUENCE_LSTM", given, [outputs[2]], options)
    _check_no_state_needed(net, part, outputs[1])


def _rnn(net, part, inputs, outputs):
    given = [inputs.get(i) for i in range(5)]
    given[4] = _state(net, part, given[4])
    options = {"time_major": True, "fused_activation_function": _activation(part)}
    net.add("UNIDIRECTIONAL_SEQUENCE_RNN", given, [outputs[1]], options)


_BUILTIN = {"UnidirectionalSequenceLstm": _lstm, "UnidirectionalSequenceRnn": _rnn}


def _in_order(net):
    """Every operator after those whose outputs it takes, without what only the collapsed parts needed."""
    net.prune()
    ready = {name for name, array in net.arrays.items() if net.producer(name) is None}
    waiting, ordered = list(net.nodes), []
    while waiting:
        now = [node for node in waiting if all(name is None or name in ready for name in node.inputs)]
        if not now:
            raise ConverterError("An op that hints mark needs its own output")
        for node in now:
            ready.update(node.outputs)
        ordered += now
        waiting = [node for node in waiting if node not in now]
    net.nodes = ordered
    net.changed()
