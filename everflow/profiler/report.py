"""A profile as text: the options, what the columns mean, and the tree or table, laid out as TensorFlow's profiler does."""

from __future__ import annotations

from everflow.profiler.views import OpView, View

# What can be selected: the field of the numbers, the column's title, the unit that follows the number, what it means.
_COLUMNS = {
    "params": ("parameters", "# parameters", "param: the number of values in variables (and in placeholders)."),
    "float_ops": ("float_ops", "# float_ops", "flops: float operations, counted from the shapes by rules of thumb."),
    "bytes": ("requested_bytes", "requested bytes", "requested bytes: memory that the operation asked for."),
    "peak_bytes": ("peak_bytes", "peak bytes", "peak bytes: the most memory that the operation held at a time."),
    "residual_bytes": (
        "residual_bytes",
        "residual bytes",
        "residual bytes: memory still held when the operation was done.",
    ),
    "output_bytes": ("output_bytes", "output bytes", "output bytes: memory of the operation's outputs."),
    "micros": (
        "exec_micros",
        "total execution time",
        "total execution time: on the host and on accelerators together.",
    ),
    "accelerator_micros": (
        "accelerator_exec_micros",
        "accelerator execution time",
        "accelerator execution time: on accelerators.",
    ),
    "cpu_micros": (
        "cpu_exec_micros",
        "cpu execution time",
        "cpu execution time: from start to end on the host, waiting included.",
    ),
}
_MORE_COLUMNS = {
    "device": ("assigned devices", "device: where the operation ran."),
    "op_types": ("op types", "op_types: the op type, its device and its marks."),
    "occurrence": ("op count (run|defined)", "occurrence: how often it ran, and how often it is defined."),
    "input_shapes": ("input shapes", "input shape: the shapes of its inputs."),
}
_VIEWS = {
    "scope": "scope: nodes below the name scopes they are in.",
    "graph": "graph: nodes below those that use them.",
    "op": "op: all nodes of an op type together, such as MatMul or Conv2D.",
    "code": "code: nodes below the lines of Python that made them.",
}
_COUNTED = "bytes peak_bytes residual_bytes output_bytes micros accelerator_micros cpu_micros params float_ops occurrence".split()
_OPTIONS = [
    "max_depth",
    *(f"min_{what}" for what in _COUNTED),
    *("step", "order_by"),
    *(f"{what}_regexes" for what in ("account_type", "start_name", "trim_name", "show_name", "hide_name")),
    *("account_displayed_op_only", "select", "output"),
]


def _in_units(value, smallest, units):
    """A value in the largest unit, of (size, name) from the largest on, that it has one of."""
    for size, unit in units:
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return f"{int(value)}{smallest}"


def number(value):
    """A count: 999, 1.23k, 4.56m, 7.89b."""
    return _in_units(value, "", ((1e9, "b"), (1e6, "m"), (1e3, "k")))


def memory(value):
    """A number of bytes: 999B, 1.23KB, 4.56MB, 7.89GB."""
    return _in_units(value, "B", ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")))


def duration(micros):
    """A time: 999us, 1.23ms, 4.56sec, 7.89min, 1.23hr."""
    return _in_units(micros, "us", ((3.6e9, "hr"), (6e7, "min"), (1e6, "sec"), (1e3, "ms")))


def _formatted(key, value):
    if key in ("params", "float_ops"):
        return number(value)
    return duration(value) if key.endswith("micros") else memory(value)


def _selected(options):
    """The columns of numbers, in the order in which they are shown: time always comes whole."""
    chosen = set(options["select"])
    if "micros" in chosen:
        chosen |= {"accelerator_micros", "cpu_micros"}
    return [key for key in _COLUMNS if key in chosen], [key for key in _MORE_COLUMNS if key in chosen]


def options_text(options):
    """The options, one on a line."""
    lines = []
    for name in _OPTIONS:
        value = options.get(name, 0)
        if name == "output":
            value = value if ":" in value else f"{value}:"
        elif isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, (list, tuple, set)):
            value = ",".join(sorted(value) if name == "select" else value)
        lines.append(f"{'-' + name:<28}{value}")
    return "\n".join(lines)


def body(cmd, view: View, options):
    """What the columns mean, and the entries."""
    numbers, others = _selected(options)
    doc = [_VIEWS[cmd]]
    for key in sorted(set(options["select"])):
        if key in _COLUMNS:
            doc.append(_COLUMNS[key][-1])
        elif key in _MORE_COLUMNS:
            doc.append(_MORE_COLUMNS[key][-1])
        else:
            doc.append(f"Unknown select: {key}")
    titles = [_COLUMNS[key][1] for key in numbers] + [_MORE_COLUMNS[key][0] for key in others]
    if isinstance(view, OpView):
        titles = ["op occurrence (run|defined)" if title.startswith("op count") else title for title in titles]
        lines = _table(view, numbers, others)
    else:
        lines = _tree(view.root, 0, numbers, others, options)
    return "\n".join(["Doc:", *doc, "", "Profile:", "node name | " + " | ".join(titles), *lines, ""])


def report(cmd, view, options):
    """All of it, between lines that say what it is."""
    return (
        "\n=========================Options=============================\n"
        f"{options_text(options)}\n"
        "\n==================Model Analysis Report======================\n"
        f"\n{body(cmd, view, options)}\n"
        "======================End of Report==========================\n"
    )


def _pair(key, entry):
    field = _COLUMNS[key][0]
    own = _formatted(key, getattr(entry.own, field)) if entry.counts else "--"
    return f"{own}/{_formatted(key, getattr(entry.total, field))}"


def _shape(sizes):
    return "x".join(str(-1 if size is None else size) for size in sizes)


def _tree(entry, indent, numbers, others, options):
    facts = []
    for key in numbers:
        pair = _pair(key, entry)
        if key == "params":
            facts += [_shape(node.shape) for node in entry.nodes[:1] if node.shape]
            pair += " params"
        elif key == "float_ops":
            pair += " flops"
        facts.append(pair)
    for key in others:
        if key == "device":
            facts += [node.device for node in entry.nodes[:1] if node.device]
        elif key == "op_types":
            facts.append("|".join(sorted(entry.types)))
        elif key == "occurrence":
            own = (entry.own.run_count, entry.own.definition_count) if entry.counts else ("--", "--")
            facts.append(f"{own[0]}/{entry.total.run_count}|{own[1]}/{entry.total.definition_count}")
        else:
            shapes = entry.nodes[0].input_shapes if entry.nodes else {}
            facts.append("|".join(f"{i}:{_shape(shape)}" for i, shape in shapes.items()))
    lines = [f"{' ' * indent}{entry.name} ({', '.join(facts)})"]
    for child in entry.shown:
        lines += _tree(child, indent + 2, numbers, others, options)
    return lines


def _table(view, numbers, others):
    lines = []
    whole = view.root.total
    for entry in view.rows:
        facts = []
        for key in numbers:
            field = _COLUMNS[key][0]
            own, following, total = (getattr(stats, field) for stats in (entry.own, entry.total, whole))
            unit = {"params": " params", "float_ops": " float_ops"}.get(key, "")
            if key.endswith("bytes") and not own:
                following = 0
            text = f"{_formatted(key, own)}{unit} ({_percent(following, total)}, {_percent(own, total)})"
            facts.append(f"{text:>30}")
        for key in others:
            if key == "device":
                facts.append("|".join(sorted({node.device for node in entry.nodes if node.device})))
            elif key == "op_types":
                facts.append("|".join(sorted(entry.types)))
            elif key == "occurrence":
                facts.append(f"{f'{entry.own.run_count}|{len(entry.nodes)}':>10}")
        line = f"{entry.name:<25}{', '.join(fact for fact in facts if fact)}"
        if "input_shapes" in others:
            line += "\n\n" + _input_shapes(entry, view.step) + "\n"
        lines.append(line)
    return lines


def _input_shapes(entry, step):
    groups: dict[str, list] = {}
    for node in entry.nodes:
        groups.setdefault(",\t".join(f"{i}:{_shape(shape)}" for i, shape in node.input_shapes.items()), []).append(node)
    lines = []
    for shapes, nodes in groups.items():
        stats = [node.stats(step) for node in nodes]
        lines.append(
            f"input_type: {shapes}\t(run*{sum(s.run_count for s in stats)}|defined*{len(nodes)})\t"
            f"exec_time: {duration(sum(s.exec_micros for s in stats))}"
        )
    return "\n".join(lines)


def _percent(part, whole):
    return f"{100.0 * part / whole if whole else 0.0:.2f}%"
