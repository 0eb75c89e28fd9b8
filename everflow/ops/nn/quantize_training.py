"""`tf.train.do_quantize_training_on_graphdef`: a graph that computes as if matrix products had inputs of few bits.

What goes into a product passes through a `QuantizeAndDequantizeV2`. Its range is known from the op before it, or it is
the moving average of what was seen, kept in variables that the graph's saver learns of.
"""

from __future__ import annotations

import itertools
import operator

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from everflow.framework.graph import Graph
from everflow.framework.scopes import name_scope
from everflow.framework.tensor_values import make_ndarray, make_tensor_proto
from everflow.ops.array.constants import constant
from everflow.protos.graph_pb2 import GraphDef

_PRODUCTS = ("MatMul", "Conv2D")
_DECAY = 0.999
# Of op types: whether values can be negative, and their range where it is known.
_KINDS = {
    **dict.fromkeys(("Const", "Variable", "VariableV2", "ReadVariableOp"), (True, None)),
    "Relu": (False, None),
    "Relu6": (False, (0.0, 6.0)),
    "Sigmoid": (False, (0.0, 1.0)),
    "Tanh": (True, (-1.0, 1.0)),
}
# Their values are of the kind of their first input's.
_HANDING_ON = ("Identity", "Reshape", "ConcatV2", "MaxPool", "AvgPool")
# How many ops of other types there may be: they are taken for inputs of the model.
_MOST_INPUTS = 2


def do_quantize_training_on_graphdef(input_graph, num_bits):
    """A graph in which the inputs of `MatMul` and `Conv2D` are rounded as integers of so many bits would be.

    Nodes whose names begin with "gradients" stay as they are. Ranges that the graph doesn't tell are averaged while it
    runs, in variables; a saver of the default name saves and restores them.

    Args:
        input_graph: A GraphDef.
        num_bits: The number of bits, 1 to 63.

    Returns:
        A new GraphDef.

    Raises:
        OutOfRangeError: If there are too few bits, or too many.
        UnimplementedError: If more than two ops of unknown kinds go into products.
        InvalidArgumentError: If an input is not of float32.

    Example:
        >>> x = tf.placeholder(tf.float32, [2, 3], name="x")
        >>> y = tf.matmul(tf.nn.relu6(x, name="h"), tf.ones([3, 4], name="w"), name="y")
        >>> made = tf.train.do_quantize_training_on_graphdef(tf.get_default_graph().as_graph_def(), num_bits=8)
        >>> [list(node.input) for node in made.node if node.name == "y"]
        [['h/QuantizeAndDequantizeV2', 'w/QuantizeAndDequantizeV2']]
    """
    text, bits = input_graph.SerializeToString(), operator.index(num_bits)
    if not 1 <= bits <= 63:
        raise OutOfRangeError(None, None, f"num_bits should be in range [1, 63] but is: {bits}")
    rewriting = _Rewriting(GraphDef.FromString(text), bits)
    rewriting.quantize()
    rewriting.save_variables()
    return rewriting.graph


def _named(edge):
    """(name of the node, number of the output) that an input is."""
    name, _, port = edge.partition(":")
    return name, int(port or 0)


class _Rewriting:
    """A graph that nodes are added to, and what is known of it."""

    def __init__(self, graph, bits):
        self.graph, self._bits = graph, bits
        self._nodes = {node.name: node for node in graph.node}
        self._unknown, self._variables = set(), []

    def quantize(self):
        """Put a rounding before each input of a product; products share those of the same value."""
        made = {}
        for node in list(self.graph.node):
            if node.op not in _PRODUCTS or node.name.startswith("gradients"):
                continue
            for place, edge in enumerate(node.input[:2]):
                if edge not in made:
                    made[edge] = self._rounded(edge)
                node.input[place] = made[edge]

    def _rounded(self, edge):
        """The name of a new node that rounds a value."""
        name, port = _named(edge)
        producer = self._nodes[name]
        if producer.op not in _KINDS and producer.op not in _HANDING_ON:
            self._unknown.add(name)
            if len(self._unknown) > _MOST_INPUTS:
                told = f"{name} is of type {producer.op}, whose range isn't known, as that of {_MOST_INPUTS} others"
                raise UnimplementedError(
                    None, None, f"{told}: only {_MOST_INPUTS} such are taken for inputs of the model."
                )
        dtype = dtypes.as_dtype(producer.attr["T" if "T" in producer.attr else "dtype"].type or dtypes.float32)
        if dtype.base_dtype != dtypes.float32:
            raise InvalidArgumentError(None, None, f"Only float32 is quantized; {name} gives {dtype.name}.")
        signed, known = self._kind(producer)
        with Graph().as_default() as scratch:
            value = raw.Placeholder(dtype=dtypes.float32, shape=[], name=name)
            with name_scope(f"{name}/"):
                lowest, highest = _constants(known) if known else self._averaged(value, name)
                how = {"signed_input": signed, "num_bits": self._bits, "range_given": True}
                rounded = raw.QuantizeAndDequantizeV2(input=value, input_min=lowest, input_max=highest, **how)
        for node in scratch.as_graph_def().node:
            if node.name != name:
                node.input[:] = [edge if _named(e) == (name, 0) else e for e in node.input]
                self._add(node)
        return rounded.op.name

    def _add(self, node):
        self.graph.node.add().CopyFrom(node)
        self._nodes[node.name] = self.graph.node[-1]

    def _kind(self, node):
        while node.op in _HANDING_ON:
            node = self._nodes[_named(node.input[0])[0]]
        return _KINDS.get(node.op, (True, None))

    def _averaged(self, value, name):
        """The smallest and largest element, averaged over the runs."""
        decay = _constant(np.float32(_DECAY), "Decay")
        with name_scope("ReductionAxes"):
            start, step = _constant(np.int32(0), "RangeStart"), _constant(np.int32(1), "RangeDelta")
            rank = raw.Rank(input=value, name="InputRank")
            axes = raw.Range(start=start, limit=rank, delta=step, name="ReductionAxes")
        extremes = [raw.Min(input=value, reduction_indices=axes), raw.Max(input=value, reduction_indices=axes)]
        self._variables += [f"{name}/{extreme.op.type}/Variable" for extreme in extremes]
        return [_moving_average(extreme, decay) for extreme in extremes]

    # --- saving

    def save_variables(self):
        """Let the saver of the graph, where it has one, save the new variables and restore them."""
        save, restore_all = (self._nodes.get(f"save/{name}") for name in ("SaveV2", "restore_all"))
        if not self._variables or save is None or restore_all is None or save.op != "SaveV2":
            return
        for place, more in ((1, self._variables), (2, [""] * len(self._variables))):
            tensor = self._nodes[save.input[place]].attr["value"].tensor
            texts = [*make_ndarray(tensor).tolist(), *(text.encode() for text in more)]
            tensor.CopyFrom(make_tensor_proto(texts, dtypes.string))
        numbers = itertools.count()
        for variable in self._variables:
            self._restored(variable, save.input[0], numbers)
        save.input.extend(self._variables)
        save.attr["dtypes"].list.type.extend([dtypes.float32.as_datatype_enum] * len(self._variables))
        # A node comes after its inputs.
        kept = type(save)()
        kept.CopyFrom(save)
        self.graph.node.remove(save)
        self.graph.node.add().CopyFrom(kept)

    def _restored(self, variable, prefix, numbers):
        with Graph().as_default() as scratch:
            path = raw.Placeholder(dtype=dtypes.string, shape=[], name=prefix)
            place = raw.VariableV2(shape=[], dtype=dtypes.float32, name=variable)
            (value,) = raw.RestoreV2(
                prefix=path,
                tensor_names=[variable],
                shape_and_slices=[""],
                dtypes=[dtypes.float32],
                name=f"save/RestoreV2/_{next(numbers)}_qt",
            )
            assign = raw.Assign(ref=place, value=value, name=f"save/Assign/_{next(numbers)}_qt")
        for node in scratch.as_graph_def().node:
            if node.name not in (prefix, variable):
                self._add(node)
        self._nodes["save/restore_all"].input.append(f"^{assign.op.name}")


def _constant(value, name):
    return constant(value, name=name)


def _constants(known):
    return [_constant(np.float32(limit), name) for limit, name in zip(known, ("InputMin", "InputMax"), strict=True)]


def _moving_average(value, decay):
    """A variable that averages a scalar, and is the first one seen at first."""
    with name_scope(value.op.name + "/"):
        average = raw.VariableV2(shape=[], dtype=dtypes.float32, name="Variable")
        known = raw.IsVariableInitialized(ref=average, name="IsInitialized")
        first, later = raw.Switch(data=value, pred=known)
        with name_scope("EMA"):
            share = raw.Sub(x=_constant(np.float32(1), "OneConst"), y=decay, name="DecayComplement")
            apart = raw.Sub(x=average, y=later, name="ValueDiff")
            step = raw.Mul(x=apart, y=share, name="UpdateValue")
            moved = raw.Sub(x=average, y=step, name="EMAValue")
        merged, _ = raw.Merge(inputs=[first, moved])
        return raw.Assign(ref=average, value=merged, name="AssignValue")
