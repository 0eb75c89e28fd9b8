"""A view of a part of a graph: some operations, with an ordered list of what goes in and what comes out."""

from __future__ import annotations

import copy as copying

from everflow.contrib.graph_editor import elements, select
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor


class SubGraphView:
    """Operations with ordered inputs and outputs. `passthrough_ts` are inputs that are outputs at once.

    A view is never changed: `remap...` return views with other inputs or outputs.
    """

    def __init__(self, inside_ops=(), passthrough_ts=()):
        self._ops = elements.make_list_of_op(inside_ops, check_graph=False)
        self._graph = None
        passthrough = elements.make_list_of_t(passthrough_ts, check_graph=False)
        if self._ops or passthrough:
            self._graph = elements.unique_graph([*self._ops, *passthrough])
        inputs, outputs, inside = select.compute_boundary_ts(self._ops)
        known = {*inputs, *outputs, *inside}
        self._passthrough = [t for t in passthrough if t not in known]
        self._default_inputs = inputs + self._passthrough
        self._default_outputs = outputs + self._passthrough
        self._inputs, self._outputs = list(self._default_inputs), list(self._default_outputs)

    graph = property(lambda self: self._graph)
    ops = property(lambda self: list(self._ops))
    inputs = property(lambda self: elements.ListView(self._inputs))
    outputs = property(lambda self: elements.ListView(self._outputs))
    passthroughs = property(lambda self: elements.ListView(self._passthrough))

    @property
    def connected_inputs(self):
        """The inputs that operations of this view take."""
        return [t for t in self._inputs if not self.is_passthrough(t)]

    @property
    def connected_outputs(self):
        """The outputs that operations of this view make."""
        return [t for t in self._outputs if not self.is_passthrough(t)]

    def __bool__(self):
        return self._graph is not None

    __hash__ = object.__hash__

    def __eq__(self, other):
        if not isinstance(other, SubGraphView):
            return NotImplemented
        return (self._ops, self._inputs, self._outputs) == (other._ops, other._inputs, other._outputs)

    def copy(self):
        """The same view once more."""
        made = copying.copy(self)
        made._inputs, made._outputs = list(self._inputs), list(self._outputs)
        return made

    def is_passthrough(self, t):
        """Whether a tensor is input and output at once."""
        return t in self._passthrough

    def input_index(self, t):
        """The place of a tensor among the inputs."""
        return _index(self._inputs, t, "input")

    def output_index(self, t):
        """The place of a tensor among the outputs."""
        return _index(self._outputs, t, "output")

    def op(self, op_id):
        """The operation at a place."""
        return self._ops[op_id]

    def find_op_by_name(self, op_name):
        """The operation of this name; ValueError where this view has none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def consumers(self):
        """The operations outside that take an output."""
        inside = set(self._ops)
        return elements.unique(op for t in self._outputs for op in t.consumers() if op not in inside)

    # --- other inputs and outputs

    def _pick(self, items, indices, repeated):
        indices = [items.index(i) if isinstance(i, Tensor) else i for i in indices]
        if not repeated and len(set(indices)) != len(indices):
            raise ValueError(f"Found repetition in mapping: {indices}")
        for index in indices:
            if not 0 <= index < len(items):
                raise ValueError(f"Out of [0, {len(items)}[ range: {index}")
        return [items[index] for index in indices]

    def remap_inputs(self, new_input_indices):
        """A view with some of the inputs, in this order."""
        made = self.copy()
        made._inputs = self._pick(self._inputs, new_input_indices, repeated=False)
        return made

    def remap_outputs(self, new_output_indices):
        """A view with some of the outputs, in this order; they may repeat."""
        made = self.copy()
        made._outputs = self._pick(self._outputs, new_output_indices, repeated=True)
        return made

    def remap(self, new_input_indices=None, new_output_indices=None):
        """A view with other inputs and outputs; None leaves them."""
        made = self if new_input_indices is None else self.remap_inputs(new_input_indices)
        return made.copy() if new_output_indices is None else made.remap_outputs(new_output_indices)

    def remap_default(self, remove_input_map=True, remove_output_map=True):
        """A view with the inputs and outputs it had at first."""
        made = self.copy()
        if remove_input_map:
            made._inputs = list(self._default_inputs)
        if remove_output_map:
            made._outputs = list(self._default_outputs)
        return made

    def remap_outputs_make_unique(self):
        """A view with each output once."""
        made = self.copy()
        made._outputs = elements.unique(self._outputs)
        return made

    def remap_outputs_to_consumers(self):
        """A view with each output once for each operation that takes it."""
        made = self.copy()
        made._outputs = [t for t in self._outputs for _ in t.consumers()]
        return made

    def remove_unused_ops(self, control_inputs=True):
        """A view without the operations that no output depends on and no input leads to."""
        made = self.copy()
        ends = self.connected_inputs, self.connected_outputs
        used = set(select.get_walks_union_ops(*ends, within_ops=self._ops, control_inputs=control_inputs))
        made._ops = [op for op in self._ops if op in used]
        return made

    def __str__(self):
        if not self:
            return "SubGraphView: empty"

        def section(title, items, name):
            lines = [f"** {title}[{len(items)}]:", *(f"  {name(item)}" for item in items)]
            if not items:
                lines = [f"** {title}: empty"]
            return "\n".join(lines)

        def tensor(t):
            return f"{t.name} *" if self.is_passthrough(t) else t.name

        parts = [
            f"SubGraphView (graphid={id(self._graph)}):",
            section("ops", self._ops, lambda op: op.name),
            section("inputs", self._inputs, tensor),
            section("outputs", self._outputs, tensor),
        ]
        return "\n".join(parts) + "\n"


def _index(items, t, what):
    try:
        return items.index(t)
    except ValueError:
        raise ValueError(f"Can't find {t.name} in {what} list of subgraph") from None


def make_view(*args, **kwargs):
    """A view of what `select_ops_and_ts` finds; a view is passed on as it is.

    >>> tf.contrib.graph_editor.sgv("^layer1/", graph=tf.get_default_graph())
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    if len(args) == 1 and isinstance(args[0], (Graph, Operation, list, tuple)) and not kwargs:
        ops, ts = select.select_ops_and_ts(*args)
        return SubGraphView(ops, ts if not isinstance(args[0], Graph) else ())
    ops, ts = select.select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, ts)


def make_view_from_scope(scope, graph):
    """A view of the operations below a name scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope), ())


sgv, sgv_scope = make_view, make_view_from_scope
