"""Where fake quantization goes: after the weights of each layer, after its activation, and around sums of two branches."""

from __future__ import annotations

import dataclasses

from everflow.contrib.graph_editor.reroute import reroute_ts
from everflow.contrib.quantize.fake_quant import quantized
from everflow.contrib.quantize.fold_batch_norms import below, folder_of
from everflow.framework.operation import Operation, Tensor

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_LAYERS = (*_CONVOLUTIONS, "MatMul")
_RECTIFIERS = ("Relu", "Relu6")
_ACTIVATIONS = (*_RECTIFIERS, "Identity")  # an identity marks the end of a block, as in MobileNet V2
_ADDS = ("Add", "AddV2")
_WEIGHT_RANGE = _SUM_RANGE = (-6.0, 6.0)
_ACTIVATION_RANGE = (0.0, 6.0)


@dataclasses.dataclass
class _Layer:
    """An op with weights, its biased output, and a sum, an activation and a second sum that may follow."""

    op: Operation
    output: Tensor
    sum: Operation | None = None
    activation: Operation | None = None
    later_sum: Operation | None = None

    @property
    def rank(self):
        """With an activation they come first, and before all those that are summed later; then those that end in a
        plain bias, then folded ones, then convolutions right
        before others; each in the graph's order."""
        if self.activation is not None:
            return -1 if self.later_sum is not None else 0, self.activation._id_value
        kinds = {"BiasAdd": 1, "Conv2D": 3, "DepthwiseConv2dNative": 3}
        return kinds.get(self.output.op.type, 2), self.output.op._id_value


def insert_fake_quantization(graph, is_training, weight_bits, activation_bits, symmetric, quant_delay, scope, step):
    """Rewrite the graph in place; `scope` limits it to layers below that name scope."""
    layers = sorted(_layers(graph, scope), key=lambda layer: layer.rank)
    common = {"is_training": is_training, "step": step, "delay": quant_delay}
    weights = {**common, "num_bits": weight_bits, "symmetric": symmetric, "narrow_range": True, "averaged": False}
    activations = {**common, "num_bits": activation_bits, "symmetric": symmetric}
    activations.update(narrow_range=False, averaged=True)
    for layer in layers:
        folder = folder_of(layer.op)
        _insert(layer.op.inputs[1], [layer.op], below(folder, "weights_quant"), _WEIGHT_RANGE, weights)
        end = layer.output if layer.activation is None else layer.activation.outputs[0]
        where = folder if layer.sum is None else folder.rpartition("/")[0]
        _insert(end, end.consumers(), below(where, "act_quant"), _ACTIVATION_RANGE, activations)
        if layer.sum is not None:
            _insert(layer.output, [layer.sum], below(folder, "conv_quant"), _SUM_RANGE, activations)
        if layer.later_sum is not None:
            total = layer.later_sum.outputs[0]
            name = below(folder_of(layer.later_sum), "post_activation_bypass_quant")
            _insert(total, total.consumers(), name, _SUM_RANGE, activations)


def _insert(tensor, consumers, name, initial_range, settings):
    """Let `consumers` take a quantized form of the tensor."""
    consumers = list(consumers)
    made = quantized(tensor, name, initial_range=initial_range, **settings)
    if consumers:
        reroute_ts([made], [tensor], can_modify=consumers)


def _layers(graph, scope):
    joined, taken = set(), set()
    for op in graph.get_operations():
        if op.type not in _LAYERS or (scope and not op.name.startswith(scope)) or not _has_weights(op):
            continue
        output = _biased(op.outputs[0])
        if output is None:
            continue
        layer = _Layer(op, output)
        following = [user for user in output.consumers() if user.type in _ACTIVATIONS]
        if following:
            layer.activation = following[0]
        else:
            _through_a_sum(layer, joined)
        if layer.activation is not None:
            users = layer.activation.outputs[0].consumers()
            sums = [user for user in users if user.type in _ADDS and user not in taken]
            # A sum that has an activation of its own is rounded there.
            sums = [user for user in sums if not any(u.type in _RECTIFIERS for u in user.outputs[0].consumers())]
            layer.later_sum = sums[0] if sums else None
            taken.update(sums[:1])
        yield layer


def _through_a_sum(layer, joined):
    """A sum with another branch that an activation follows; the first of the branches has it."""
    for total in layer.output.consumers():
        if total.type in _ADDS and total not in joined:
            for user in total.outputs[0].consumers():
                if user.type in _ACTIVATIONS:
                    layer.sum, layer.activation = total, user
                    joined.add(total)
                    return


def _has_weights(op):
    """Whether the second input is computed from variables or constants alone, and isn't folded away."""
    if not op.outputs[0].consumers():
        return False
    source = op.inputs[1].op
    if source.type == "Mul" and source.name.endswith("mul_fold"):
        return True
    return source.type in ("Identity", "ReadVariableOp", "Const", "VariableV2")


def _biased(output):
    """The output with its bias or folded normalization, or as an activation or a separable convolution takes it.

    None where it has none, or where normalization was folded out of it.
    """
    for _ in range(4):
        users = output.consumers()
        if output.op.type in _LAYERS and any(u.type in _ACTIVATIONS for u in users):
            return output
        if output.op.type in _CONVOLUTIONS and any(u.type in _CONVOLUTIONS for u in users):
            return output
        types, names = ("BiasAdd", "BatchToSpaceND"), ("post_conv_mul", "correction_add", "add_fold")
        following = [u for u in users if u.type in types or u.name.rpartition("/")[2] in names]
        if not following:
            return None
        user = following[0]
        output = user.outputs[0]
        if user.type == "BiasAdd" or user.name.endswith("add_fold"):
            return output
    return None
