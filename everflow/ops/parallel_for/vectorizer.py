"""From the body of a loop, drawn once for one iteration, to ops that compute all iterations at once.

A tensor of the body that differs between iterations becomes one with a dimension more in front ("stacked"); others stay
as they are. What an op becomes when an input is stacked is a rule, registered under its type.
"""

from __future__ import annotations

from typing import NamedTuple

from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math

_rules = {}
# They have state, but reading it is the same in every iteration; what is popped from a stack outside, all share.
_SAME_IN_ALL = {
    "ReadVariableOp",
    "StackPopV2",
    "StackV2",
    "TensorArrayReadV3",
    "TensorArraySizeV3",
    "TensorArrayWriteV3",
    "VarHandleOp",
    "VariableV2",
}


def rule(*op_types):
    """Register what ops of some types become: a function of `Inputs` that returns a `Value`, or a list with one for
    each output.
    """

    def register(function):
        for op_type in op_types:
            _rules[op_type] = function
        return function

    return register


def rules_of(op_types):
    """What is registered for some types: op type → rule."""
    return {op_type: _rules[op_type] for op_type in op_types}


class NoRule(ValueError):
    """An op of a body that there is no rule for."""


class Value(NamedTuple):
    """What stands for a tensor of the body: with all iterations in a first dimension, or the same for all of them."""

    tensor: Tensor
    stacked: bool


class SparsePart(NamedTuple):
    """What stands for the indices, values or shape of a sparse tensor: that of one sparse tensor for all iterations."""

    tensor: Tensor
    stacked: bool = True


def stacked(tensor):
    """All iterations' values, along a first dimension."""
    return Value(tensor, True)


def same(tensor):
    """One value for all iterations."""
    return Value(tensor, False)


class Inputs:
    """The inputs of an op of the body as they are for all iterations, for the rule that makes the op anew."""

    def __init__(self, vectorizer, op, values):
        self.op = op
        self.attrs = op.attrs
        self.vectorizer = vectorizer
        self.values = values

    # How many iterations there are, as a vector of one number.
    length = property(lambda self: self.vectorizer.length)

    def __len__(self):
        return len(self.values)

    def is_stacked(self, index):
        return self.values[index].stacked

    def tensor(self, index):
        return self.values[index].tensor

    def stacked(self, index):
        """An input that has to differ between iterations."""
        if not self.values[index].stacked:
            raise ValueError(self._unexpected(index, "not loop invariant"))
        return self.values[index].tensor

    def same(self, index):
        """An input that must not differ between iterations."""
        if self.values[index].stacked:
            raise ValueError(self._unexpected(index, "loop invariant"))
        return self.values[index].tensor

    def _unexpected(self, index, expected):
        name = self.op.definition.inputs[min(index, len(self.op.definition.inputs) - 1)].name
        return f'Input "{name}" of op "{self.op.type}" expected to be {expected}. Error while converting op {self.op.node_def}'

    def all_stacked(self, indices=None):
        """The inputs, or some of them; those that are the same for all iterations are repeated."""
        indices = range(len(self)) if indices is None else indices
        for index in indices:
            if not self.values[index].stacked:
                self.values[index] = stacked(self.vectorizer.repeated(self.values[index].tensor))
        return [self.values[index].tensor for index in indices]

    def aligned(self):
        """The inputs, so that they broadcast in each iteration as they did: dimensions of one go in behind the first
        where ranks differ.
        """
        ranks = []
        for value in self.values:
            rank = array.rank(value.tensor)
            ranks.append(rank if value.stacked else rank + 1)
        highest = ranks[0]
        for rank in ranks[1:]:
            highest = math.maximum(rank, highest)
        return [
            _widened(value.tensor, highest, rank) if value.stacked else value.tensor
            for value, rank in zip(self.values, ranks, strict=True)
        ]

    def op_like(self, tensors):
        """The op once more, on other inputs."""
        return self.op.graph.create_op(self.op.type, list(tensors), attrs=dict(self.op.attrs))


def _widened(tensor, rank, own_rank):
    shape = array.shape(tensor)
    ones = array.tile([1], array.reshape(rank - own_rank, [1]))
    return array.reshape(tensor, array.concat([shape[:1], ones, shape[1:]], axis=0))


def _one_sparse(indices, values, dense_shapes):
    """The sparse tensors of all iterations, each with as many values, as one with a dimension more."""
    shape = array.shape(indices, out_type=dtypes.int64)
    rows = array.tile(array.reshape(math.range(shape[0]), [-1, 1, 1]), array.stack([1, shape[1], 1]))
    places = array.reshape(array.concat([rows, indices], axis=2), array.stack([-1, shape[2] + 1]))
    size = array.concat([shape[:1], math.reduce_max(dense_shapes, axis=0)], axis=0)
    return SparseTensor(places, array.reshape(values, [-1]), size)


class Vectorizer:
    """Makes ops for all iterations out of those that a body drew for one."""

    def __init__(self, iterations, body_ops, differing=None, rules=None, reductions=None):
        """`differing` has what differs between iterations: tensor of the body → its value for all iterations."""
        self.length = array.reshape(iterations, [1])
        self.indices = None
        self._body = set(body_ops)
        self._rules = _rules if rules is None else rules
        self._reductions = reductions or {}  # placeholder → what is reduced over all iterations, and how
        self._repeated = {}
        self._tensors = dict(differing or {})
        self._ops = {}

    @classmethod
    def of_loop(cls, variable, iterations, body_ops, reductions):
        """That of a loop whose variable counts the iterations."""
        made = cls(iterations, body_ops, reductions=reductions)
        made.indices = math.range(iterations)
        made._tensors[variable] = stacked(made.indices)
        made._ops[variable.op] = made.indices.op
        return made

    def also(self, ops, differing):
        """Take more ops for those of the body, such as what a branch was drawn as."""
        self._body.update(ops)
        self._tensors.update(differing)

    def convert(self, output):
        """What a body returned, for all iterations: with a dimension more in front, or an op that runs after all of
        them.
        """
        if output is None:
            return None
        if isinstance(output, Operation):
            self._convert_all([output])
            return self._ops.get(output, output)
        if isinstance(output, SparseTensor):
            parts = [self.value_of(t) for t in (output.indices, output.values, output.dense_shape)]
            if all(isinstance(part, SparsePart) for part in parts):
                return SparseTensor(*(part.tensor for part in parts))
            return _one_sparse(*map(self.convert, (output.indices, output.values, output.dense_shape)))
        return self._stacked(output)

    def _stacked(self, tensor):
        value = self.value_of(tensor)
        return value.tensor if value.stacked else self.repeated(value.tensor)

    def value_of(self, tensor):
        self._convert_all([tensor])
        return self._tensors.get(tensor, same(tensor))

    def repeated(self, tensor):
        """A tensor once for each iteration."""
        if tensor not in self._repeated:
            multiples = array.concat([self.length, array.ones_like(array.shape(tensor))], axis=0)
            self._repeated[tensor] = array.tile(array.expand_dims(tensor, 0), multiples)
        return self._repeated[tensor]

    def _known(self, item):
        op = item if isinstance(item, Operation) else item.op
        return op not in self._body or op in self._ops or item in self._tensors

    def _convert_all(self, todo):
        """Convert what is asked for after what it needs; bodies may be deeper than Python's stack."""
        while todo:
            item = todo[-1]
            if self._known(item):
                todo.pop()
                continue
            op = item if isinstance(item, Operation) else item.op
            reduced = self._reductions[op][:1] if op in self._reductions else ()
            needed = [i for i in (*op.inputs, *op.control_inputs, *reduced) if not self._known(i)]
            if needed:
                todo.extend(needed)
                continue
            todo.pop()
            self._convert_op(op)

    def _convert_op(self, op):
        if op in self._reductions:
            tensor, reduce = self._reductions[op]
            whole = reduce(self._stacked(tensor))
            self._ops[op], self._tensors[op.outputs[0]] = whole.op, same(whole)
            return
        values = [self._tensors.get(t, same(t)) for t in op.inputs]
        controls = [self._ops.get(c, c) for c in op.control_inputs]
        some_stacked = any(v.stacked for v in values)
        unchanged = (
            not some_stacked
            and controls == op.control_inputs
            and all(v.tensor is t for v, t in zip(values, op.inputs, strict=True))
        )
        own_in_each = op.definition.is_stateful and op.type not in _SAME_IN_ALL
        if unchanged and not own_in_each:
            self._ops[op] = op
            return
        with name_scope(f"{op.name}/pfor/"), control_dependencies(controls):
            inputs = Inputs(self, op, values)
            if not some_stacked and not own_in_each:
                self._ops[op] = inputs.op_like(v.tensor for v in values)
                made = [same(t) for t in self._ops[op].outputs]
            else:
                if op.type not in self._rules:
                    raise NoRule(f"No converter defined for {op.type}\n{op.node_def}\ninputs: {values}")
                made = self._rules[op.type](inputs)
                if isinstance(made, Operation):
                    self._ops[op], made = made, []
                elif isinstance(made, Value):
                    made = [made]
                if made:
                    self._ops[op] = made[0].tensor.op
        self._tensors.update(zip(op.outputs, made, strict=True))
