"""The four ways to look at a model: by name scope, along the graph, by op type, and by lines of code.

Each makes a tree of entries with their own numbers and those of everything below; options decide what counts, what is
shown and in what order.
"""

from __future__ import annotations

import os
import re

from everflow.framework.errors import InvalidArgumentError
from everflow.profiler.model import FIELDS, Model, Node, Stats
from everflow.protos import tfprof_output_pb2

ROOT = "_TFProfRoot"
_SCOPE_TYPE = "_kTFScopeParent"
_ORDER = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
    "occurrence": "definition_count",
}
_MINIMA = {
    "min_bytes": "requested_bytes",
    "min_peak_bytes": "peak_bytes",
    "min_residual_bytes": "residual_bytes",
    "min_output_bytes": "output_bytes",
    "min_micros": "exec_micros",
    "min_accelerator_micros": "accelerator_exec_micros",
    "min_cpu_micros": "cpu_exec_micros",
}


class Entry:
    """An entry of a tree: a node, or several of one type or line, or only a scope."""

    def __init__(self, name, nodes=()):
        self.name = name
        self.nodes: list[Node] = list(nodes)
        self.children: list[Entry] = []
        self.own = Stats()
        self.total = Stats()
        self.counts = False  # whether its own numbers count
        self.shown: list[Entry] = []

    @property
    def types(self):
        return list(dict.fromkeys(kind for node in self.nodes for kind in node.types)) or [_SCOPE_TYPE]

    def relevant(self):
        """Whether anything in it counts."""
        return self.counts or any(child.relevant() for child in self.children)


class View:
    """What the views have in common: counting, choosing what is shown, ordering, and the result as a message."""

    # Options that look at the total of an entry rather than at its own number, besides those of time and memory.
    minima_of_totals = ()

    def __init__(self, model: Model, options: dict):
        self.model = model
        self.options = options
        self.step = options["step"]
        self.counts_all = list(options["account_type_regexes"]) == [".*"]
        self._patterns = {key: [_pattern(text) for text in options[key]] for key in options if key.endswith("_regexes")}
        self.root = self.build()

    def build(self) -> Entry:
        root = Entry(ROOT)
        root.children = self.started(self.entries())
        self.account(root)
        root.counts = False
        self.show(root, 1)
        return root

    def entries(self) -> list[Entry]:
        raise NotImplementedError

    def matches(self, key, text):
        return any(pattern.fullmatch(text) for pattern in self._patterns[key])

    def counted(self, types):
        return self.counts_all or any(self.matches("account_type_regexes", kind) for kind in types)

    def started(self, entries):
        """The entries at which the tree starts."""
        if list(self.options["start_name_regexes"]) == [".*"]:
            return entries
        found = []
        for entry in entries:
            found += [entry] if self.matches("start_name_regexes", entry.name) else self.started(entry.children)
        return found

    def account(self, entry):
        """Add up the numbers from below."""
        for node in entry.nodes:
            entry.own += node.stats(self.step)
        entry.counts = self.counted(entry.types)
        entry.total = Stats()
        if entry.counts:
            entry.total += entry.own
        for child in entry.children:
            self.account(child)
            entry.total += child.total

    def wanted(self, entry, depth):
        if entry.name == ROOT:
            return True
        options = self.options
        if depth > options["max_depth"] or any(
            getattr(entry.total, field) < options.get(key, 0) for key, field in _MINIMA.items()
        ):
            return False
        for key, field in (
            ("min_params", "parameters"),
            ("min_float_ops", "float_ops"),
            ("min_occurrence", "run_count"),
        ):
            if getattr(entry.total if key in self.minima_of_totals else entry.own, field) < options[key]:
                return False
        if not self.matches("show_name_regexes", entry.name):
            return False
        return not self.matches("hide_name_regexes", entry.name)

    def visible(self, entry):
        return entry.name == ROOT or entry.relevant()

    def show(self, entry, depth) -> list[Entry]:
        """Choose what is shown; entries below one that isn't take its place."""
        wanted = self.visible(entry) and self.wanted(entry, depth)
        below = []
        if not self.matches("trim_name_regexes", entry.name):
            below = [shown for child in entry.children for shown in self.show(child, depth + 1)]
        if not wanted:
            return below
        if self.options["account_displayed_op_only"]:
            entry.total = Stats()
            if entry.counts:
                entry.total += entry.own
            for child in below:
                entry.total += child.total
        entry.shown = self.ordered(below)
        return [entry]

    def ordered(self, entries):
        field = _ORDER.get(self.options["order_by"])
        if field is None:
            return sorted(entries, key=lambda entry: entry.name)
        return sorted(entries, key=lambda entry: (-getattr(entry.total, field), entry.name))

    def proto(self):
        """The shown tree as a message."""
        return _graph_node(self.root)


def _pattern(text):
    try:
        return re.compile(text)
    except re.error as e:
        raise InvalidArgumentError(None, None, f"{text!r} is no regular expression: {e}") from None


class ScopeView(View):
    """Nodes below the name scopes they are in."""

    def entries(self):
        by_name: dict[str, Entry] = {}
        tops: list[Entry] = []

        def entry(name):
            if name not in by_name:
                by_name[name] = Entry(name)
                scope, _, _ = name.rpartition("/")
                (entry(scope).children if scope else tops).append(by_name[name])
            return by_name[name]

        for node in self.model.nodes.values():
            entry(node.name).nodes.append(node)
        return tops

    def account(self, entry):
        super().account(entry)
        if not entry.nodes and entry.counts and entry.name != ROOT:
            # A scope is one more thing that is defined.
            entry.own.definition_count = 1
            entry.total.definition_count += 1


class GraphView(View):
    """Nodes below those that use them, each at its first use."""

    def entries(self):
        entries = {name: Entry(name, [node]) for name, node in self.model.nodes.items()}
        used = {name for node in self.model.nodes.values() for name in node.inputs}
        seen: set[str] = set()

        def follow(entry):
            stack = [entry]
            while stack:
                user = stack.pop()
                for name in user.nodes[0].inputs:
                    if name not in seen:
                        seen.add(name)
                        user.children.append(entries[name])
                stack += reversed(user.children)
            return entry

        return [follow(entries[name]) for name in sorted(entries) if name not in used]

    def visible(self, entry):
        return entry.name == ROOT or entry.counts


class OpView(View):
    """Nodes of one op type together; the entries are a chain, in which each has the sum of what follows as its total."""

    minima_of_totals = ("min_params", "min_float_ops")

    def build(self):
        by_type: dict[str, Entry] = {}
        for node in self.model.nodes.values():
            if self.counted(node.types) and self._named(node):
                by_type.setdefault(node.op, Entry(node.op)).nodes.append(node)
        for entry in by_type.values():
            self.account(entry)
        self.step_total = Stats()
        shown = self.ordered(list(by_type.values()))
        self._chain(shown)
        shown = [entry for entry in shown if self.wanted(entry, 1)]
        if self.options["account_displayed_op_only"]:
            self._chain(shown)
        root = Entry(ROOT)
        root.total = (
            shown[0].total if shown and self.options["account_displayed_op_only"] else self._sum(by_type.values())
        )
        self.rows = shown
        return root

    def _named(self, node):
        start = self.options["start_name_regexes"]
        return list(start) == [".*"] or self.matches("start_name_regexes", node.name)

    @staticmethod
    def _sum(entries):
        total = Stats()
        for entry in entries:
            total += entry.own
        return total

    def _chain(self, entries):
        for i, entry in enumerate(entries):
            entry.total = self._sum(entries[i:])

    def wanted(self, entry, depth):
        if len(entry.nodes) < self.options["min_occurrence"]:
            return False
        options, self.options = self.options, {**self.options, "min_occurrence": 0}
        try:
            return super().wanted(entry, depth)
        finally:
            self.options = options

    def proto(self):
        message = None
        for entry in reversed([self.root, *self.rows]):
            outer = tfprof_output_pb2.MultiGraphNodeProto()
            _fill_multiple(outer, entry)
            for node in entry.nodes:
                below = outer.graph_nodes.add()
                one = Entry(node.name, [node])
                one.own = node.stats(self.step)
                one.total = one.own
                _fill(below, one)
            if message is not None:
                outer.children.append(message)
            message = outer
        return message


class CodeView(View):
    """Nodes below the lines of Python that made them, outermost first; those of gradients are marked so."""

    minima_of_totals = ("min_params", "min_float_ops", "min_occurrence")

    def __init__(self, model, options):
        super().__init__(model, {**options, "account_displayed_op_only": False})

    def entries(self):
        top = Entry(ROOT)
        for node in self.model.nodes.values():
            place = top
            for file, line, function, _ in node.frames:
                if len(function) > 20:
                    function = function[:17] + "..."
                name = f"{os.path.basename(file)}:{line}:{function}" + (" (gradient)" if node.of_gradient else "")
                below = next((child for child in place.children if child.name == name), None)
                if below is None:
                    below = Entry(name)
                    place.children.append(below)
                place = below
            if place is not top:
                place.nodes.append(node)
        return top.children

    def proto(self):
        return _multiple_node(self.root)


VIEWS = {"scope": ScopeView, "graph": GraphView, "op": OpView, "code": CodeView}


def _fill(message, entry):
    """Write numbers and shapes of an entry; what doesn't count is left out."""
    message.name = entry.name
    for field in FIELDS:
        if field != "definition_count" and (entry.counts or entry.own is entry.total):
            setattr(message, field, int(getattr(entry.own, field)))
        setattr(message, f"total_{field}", int(getattr(entry.total, field)))
    for node in entry.nodes:
        if node.device:
            message.devices.append(node.device)
        if node.shape:
            _write_shape(message.shapes.add(), node.shape)
        for i, shape in node.input_shapes.items():
            _write_shape(message.input_shapes[i], shape)


def _write_shape(message, sizes):
    for size in sizes:
        message.dim.add(size=-1 if size is None else size)


def _graph_node(entry):
    message = tfprof_output_pb2.GraphNodeProto()
    _fill(message, entry)
    message.children.extend(_graph_node(child) for child in entry.shown)
    return message


def _fill_multiple(message, entry):
    message.name = entry.name
    for field in FIELDS:
        if field in ("definition_count", "run_count"):
            continue
        if entry.name != ROOT:
            setattr(message, field, int(getattr(entry.own, field)))
        setattr(message, f"total_{field}", int(getattr(entry.total, field)))


def _multiple_node(entry):
    message = tfprof_output_pb2.MultiGraphNodeProto()
    _fill_multiple(message, entry)
    message.children.extend(_multiple_node(child) for child in entry.shown)
    return message
