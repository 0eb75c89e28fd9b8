"""The commands that one types at the debugger: what each takes, and what it says of a dump.

A command is a row of the table at the end: names, what it does, its arguments, and the method that gives the lines of
its answer.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex

import numpy as np

from everflow.debug.tensor_text import show
from everflow.version import EVERFLOW_VERSION, VERSION

_TENSOR = re.compile(r"(?P<node>[^:\[]+)(:(?P<slot>\d+))?(:(?P<op>\w+))?(?P<slice>\[.*\])?$")
_SLICE = re.compile(r"\[[-\d:,\s.]*\]$")
_SORTS = {
    "timestamp": lambda dump, datum: datum.timestamp,
    "dump_size": lambda dump, datum: datum.dump_size_bytes,
    "op_type": lambda dump, datum: dump.node_op_type(datum.node_name),
    "tensor_name": lambda dump, datum: datum.tensor_name,
}
_DEPTH = 20
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Exit(Exception):
    """The user has had enough."""


class Refused(Exception):
    """A command can't be followed; says why."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(f'Syntax error for command: {self.prog}\nFor help, do "help {self.prog}"')


class Answers:
    """What is known when a command is typed: the run, and after it the dump."""

    def __init__(self, filters, description, feeds, dump=None):
        self._filters = filters
        self._description = description
        self._feeds = feeds or {}
        self._dump = dump

    def answer(self, line):
        """The lines that answer a command; a Namespace for `run`."""
        text, _, path = line.partition(" > ")
        words = shlex.split(text)
        row = _BY_NAME.get(words[0])
        if row is None or (row[4] and self._dump is None):
            raise Refused(f'ERROR: Invalid command prefix "{words[0]}"')
        if "-h" in words[1:]:
            return _help_of(row)
        arguments = _parser_of(row, words[0]).parse_args(words[1:])
        result = getattr(self, row[3])(arguments)
        if path and isinstance(result, list):
            with open(path.strip(), "w") as f:
                f.write("\n".join(result) + "\n")
            result = [*result, f"Wrote output to {path.strip()}"]
        return result

    # --- on the run

    def run(self, arguments):
        if arguments.till_filter_pass and arguments.till_filter_pass not in self._filters:
            raise Refused(f'ERROR: tensor filter "{arguments.till_filter_pass}" does not exist.')
        return arguments

    def run_info(self, arguments):
        return self._description

    def exit(self, arguments):
        raise Exit

    def help(self, arguments):
        rows = COMMANDS if arguments.command is None else [_BY_NAME.get(arguments.command)]
        if rows == [None]:
            raise Refused(f'ERROR: Invalid command prefix "{arguments.command}"')
        return [line for row in rows if self._dump is not None or not row[4] for line in _help_of(row)]

    def version(self, arguments):
        return [f"TensorFlow version: {VERSION}", f"Everflow version: {EVERFLOW_VERSION}", f"numpy: {np.__version__}"]

    def print_feed(self, arguments):
        name, place = _split_slice(arguments.tensor_name)
        for key, value in self._feeds.items():
            if (key if isinstance(key, str) else getattr(key, "name", "")) == name:
                return _shown(f"{name} (feed)", value, place, arguments)
        raise Refused(f"ERROR: {arguments.tensor_name} is not fed in this run.")

    # --- on the dump

    def list_tensors(self, arguments):
        dump = self._dump
        if arguments.tensor_filter is None:
            data, words = dump.dumped_tensor_data, ""
        elif arguments.tensor_filter not in self._filters:
            raise Refused(f'ERROR: There is no tensor filter named "{arguments.tensor_filter}".')
        else:
            data = dump.find(
                self._filters[arguments.tensor_filter], exclude_node_names=arguments.filter_exclude_node_names
            )
            words = f' passing filter "{arguments.tensor_filter}"'
        if arguments.sort_by not in _SORTS:
            raise Refused(f"ERROR: Unsupported key to sort tensors by: {arguments.sort_by}")
        head = []
        for label, pattern, field in (
            ("Node name", arguments.node_name_filter, lambda datum: datum.node_name),
            ("Op type", arguments.op_type_filter, lambda datum: dump.node_op_type(datum.node_name)),
        ):
            if pattern:
                head.append(f'{label} regex filter: "{pattern}"')
                data = [datum for datum in data if re.match(pattern, field(datum))]
        data = sorted(data, key=lambda datum: _SORTS[arguments.sort_by](dump, datum), reverse=arguments.reverse)
        rows = [("t (ms) ", "Size (B)", "Op type", "Tensor name")]
        for datum in data:
            after = f"[{(datum.timestamp - dump.t0) / 1000:.3f}] "
            rows.append((after, str(datum.dump_size_bytes), dump.node_op_type(datum.node_name), datum.tensor_name))
        return [f"{len(data)} dumped tensor(s){words}:", *head, "", *_columns(rows)]

    def print_tensor(self, arguments):
        name, place = _split_slice(arguments.tensor_name)
        match = _TENSOR.match(name)
        node, op = match["node"], match["op"] or "DebugIdentity"
        if not self._dump.node_exists(node):
            raise Refused(f'ERROR: Node "{node}" does not exist in partition graphs')
        slots = sorted({datum.output_slot for datum in self._dump.dumped_tensor_data if datum.node_name == node})
        if match["slot"] is None and len(slots) > 1:
            raise Refused(
                f'ERROR: Node "{node}" generated debug tensors from {len(slots)} output slots: say one of {slots}'
            )
        slot = int(match["slot"] or (slots[0] if slots else 0))
        data = self._dump.watch_key_to_data(f"{node}:{slot}:{op}")
        if not data:
            raise Refused(f'ERROR: Tensor "{node}:{slot}" did not generate any dumps.')
        number = arguments.number
        if number is None and len(data) > 1:
            lines = [f'Tensor "{node}:{slot}" generated {len(data)} dumps:', ""]
            lines += [
                f"#{i} [{(datum.timestamp - self._dump.t0) / 1000:.3f} ms] {datum.watch_key}"
                for i, datum in enumerate(data)
            ]
            return [
                *lines,
                "",
                f"`pt {node}:{slot} -n 0` shows the first.",
            ]
        if number is not None and not -len(data) <= number < len(data):
            dumps = "one dump" if len(data) == 1 else f"{len(data)} dumps"
            raise Refused(f"ERROR: Invalid number ({number}) for tensor {node}:{slot}, which generated {dumps}.")
        datum = data[number or 0]
        return _shown(datum.watch_key, datum.get_tensor(), place, arguments)

    def node_info(self, arguments):
        name = self._known(arguments.node_name)
        about = f"  Op: {self._dump.node_op_type(name)}", f"  Device: {self._dump.node_device(name)}"
        lines = [f"Node {name}", "", *about, ""]
        for kind, found in (("input", self._dump.node_inputs), ("recipient", self._dump.node_recipients)):
            data, control = found(name), found(name, is_control=True)
            lines.append(f"  {len(data)} {kind}(s) + {len(control)} control {kind}(s):")
            for label, names in ((f"{kind}(s)", data), (f"control {kind}(s)", control)):
                if names or not label.startswith("control"):
                    lines.append(f"    {len(names)} {label}:")
                    lines += [f"      [{self._op_type(other)}] {other}" for other in names]
            lines.append("")
        lines.pop()
        if arguments.attributes:
            lines += ["", "Node attributes:"]
            for key, value in self._dump.node_attributes(name).items():
                lines += [f"  {key}:", *("    " + line for line in str(value).splitlines()), ""]
        if arguments.dumps:
            data = [datum for datum in self._dump.dumped_tensor_data if datum.node_name == name]
            lines += [f"{len(data)} dumped tensor(s):", ""]
            lines += [
                f"  Slot {datum.output_slot} @ {datum.debug_op} @ {(datum.timestamp - self._dump.t0) / 1000:.3f} ms"
                for datum in data
            ]
        if arguments.traceback:
            lines += ["", "", "Traceback of node construction:"]
            frames = [frame for frame in self._dump.node_traceback(name) if not frame[0].startswith(_OURS)]
            for i, (path, number, function, text, *_) in enumerate(frames):
                place = f"  Line:     {number}", f"  Function: {function}", f'  Text:     "{text}"'
                lines += [f"{i}: {path}", *place, ""]
        return lines

    def list_inputs(self, arguments):
        return self._tree("Inputs to node", self._dump.node_inputs, arguments)

    def list_outputs(self, arguments):
        return self._tree("Recipients of node", self._dump.node_recipients, arguments)

    def _tree(self, words, neighbours, arguments):
        name = self._known(arguments.node_name)
        depth = arguments.depth if arguments.recursive else 1
        control = ", control inputs included" if arguments.control else ""
        lines, seen = [f'{words} "{name}" (Depth limit = {depth}{control}):'], set()

        def of(node):
            node = node.partition(":")[0]
            if not self._dump.node_exists(node):
                return []
            data = [(other, "") for other in neighbours(node)]
            return data + (
                [(other, "(Ctrl) ") for other in neighbours(node, is_control=True)] if arguments.control else []
            )

        def walk(node, level, before):
            seen.add(node)
            found = of(node)
            for i, (other, mark) in enumerate(found):
                kind = f"[{self._op_type(other)}] " if arguments.op_type else ""
                lines.append(f"{before}|- ({level}) {mark}{kind}{other}")
                below = before + ("   " if i == len(found) - 1 else "|  ")
                if level == depth and of(other):
                    lines.append(below + "|- ...")
                elif level < depth and other not in seen:
                    walk(other, level + 1, below)

        walk(name, 1, "")
        lines += ["", "Legend:", "  (d): recursion depth = d."]
        lines += ["  (Ctrl): Control input."] * arguments.control
        return lines + ["  [Op]: Input node has op type Op."] * arguments.op_type

    def evaluate(self, arguments):
        """The value of an expression that the user types, with `` `node:0` `` for tensors and np for numpy."""
        tensors = []

        def value(match):
            node, _, slot = match[1].partition(":")
            try:
                tensors.append(self._dump.get_tensors(node, int(slot or 0), "DebugIdentity")[-1])
            except ValueError as e:
                raise Refused(f"ERROR: Eval failed due to the value of {match[1]} being unavailable") from e
            return f"_tensors[{len(tensors) - 1}]"

        expression = re.sub(r"`([^`]+)`", value, arguments.expression)
        try:
            result = eval(expression, {"np": np, "_tensors": tensors})
        except Exception as e:
            raise Refused(
                f"Error occurred during handling of command: eval {arguments.expression}:\n{type(e)}: {e}"
            ) from e
        arguments.numeric_summary = True
        return _shown(f"from eval of expression '{arguments.expression}'", result, "", arguments)

    def _op_type(self, text):
        """The op type of an input; one that was fed has no node in what ran."""
        name = text.partition(":")[0]
        return self._dump.node_op_type(name) if self._dump.node_exists(name) else "_Arg"

    def _known(self, text):
        name = text.partition(":")[0]
        if not self._dump.node_exists(name):
            raise Refused(f'ERROR: There is no node named "{name}" in this run')
        return name


def _split_slice(text):
    """A tensor's name, and the slice in brackets after it."""
    name, bracket, rest = text.partition("[")
    if bracket and not _SLICE.match(bracket + rest):
        raise Refused(f"ERROR: Invalid tensor-slicing string: {bracket + rest}")
    return name, bracket + rest


def _shown(name, value, place, arguments):
    if place:
        value = eval(f"value{place}", {"value": np.asarray(value)})  # only digits, colons and commas get here
        value = value if value.shape else value.item()
    ranges = getattr(arguments, "ranges", None)
    return show(name + place, value, arguments.numeric_summary, arguments.all, ranges, arguments.write_path)


def _columns(rows):
    widths = [max(len(row[i]) for row in rows) + 1 for i in range(len(rows[0]) - 1)]
    return ["".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)) + row[-1] for row in rows]


def _parser_of(row, called):
    parser = _Parser(prog=called, add_help=False)
    for flags, options in row[2]:
        parser.add_argument(*flags, **options)
    return parser


def _help_of(row):
    (name, *others), words = row[0], row[1]
    lines = [name, *([f"  Aliases: {', '.join(others)}"] if others else []), "", f"  {words}", ""]
    if row[2]:
        lines += ["  " + line for line in _parser_of(row, name).format_help().splitlines()] + ["", ""]
    return lines


def _argument(*flags, **options):
    return flags, options


_SWITCH = {"action": "store_true"}
_SHOWING = [
    _argument("-n", "--number", type=int, help="which of several dumps, from 0"),
    _argument("-r", "--ranges", help="count the elements in ranges: [-0.1,0.1] or [[-inf,-1],[1,inf]]"),
    _argument("-a", "--all", help="all elements, without ellipses", **_SWITCH),
    _argument("-s", "--numeric_summary", help="with a numeric summary", **_SWITCH),
    _argument("-w", "--write_path", help="also write it to this file, with numpy.save"),
]
_NODE = _argument("node_name")
_WALKING = [
    _argument("-c", "--control", help="with control inputs", **_SWITCH),
    _argument("-d", "--depth", type=int, default=_DEPTH, help="how deep to go, with -r"),
    _argument("-r", "--recursive", help="inputs of inputs, too", **_SWITCH),
    _argument("-t", "--op_type", help="with op types", **_SWITCH),
    _NODE,
]
_TENSOR_NAME = _argument("tensor_name", help="such as layer/MatMul:0 or layer/MatMul:0[1, :]")
_EXCLUDED = _argument(
    "-fenn", "--filter_exclude_node_names", help="nodes that the filter leaves out, a regular expression"
)
_ARGUMENTS = {
    "run": [
        _argument("-t", "--times", type=int, default=1, help="go through so many runs, and debug the last"),
        _argument("-n", "--no_debug", help="run without dumping tensors", **_SWITCH),
        _argument("-f", "--till_filter_pass", help="run until a tensor passes this filter"),
        _EXCLUDED,
        _argument("--node_name_filter", help="dump only nodes whose names match"),
        _argument("--op_type_filter", help="dump only nodes of matching op types"),
        _argument("--tensor_dtype_filter", help="dump only tensors of matching types"),
    ],
    "list_tensors": [
        _argument("-f", "--tensor_filter", help="only those that pass this filter"),
        _EXCLUDED,
        _argument("-n", "--node_name_filter", help="only nodes whose names match"),
        _argument("-t", "--op_type_filter", help="only nodes of matching op types"),
        _argument("-s", "--sort_by", default="timestamp", help=" | ".join(_SORTS)),
        _argument("-r", "--reverse", help="the other way round", **_SWITCH),
    ],
    "print_tensor": [_TENSOR_NAME, *_SHOWING],
    "print_feed": [_TENSOR_NAME, *_SHOWING],
    "node_info": [
        _argument("-a", "--attributes", help="with its attributes", **_SWITCH),
        _argument("-d", "--dumps", help="with its dumps", **_SWITCH),
        _argument("-t", "--traceback", help="with the lines that made it", **_SWITCH),
        _NODE,
    ],
    "list_inputs": _WALKING,
    "list_outputs": _WALKING,
    "evaluate": [_argument("expression", help='such as "np.max(`layer/MatMul:0`)"'), _SHOWING[2], _SHOWING[4]],
    "help": [_argument("command", nargs="?")],
}


def _commands(table):
    """[(names, what it does, arguments, method, whether it needs a dump)] of lines with all but the arguments."""
    rows = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [(names.split(), does, _ARGUMENTS.get(method, []), method, bool(dump)) for names, method, dump, does in rows]


COMMANDS = _commands("""
    run r           | run          |      | Go on with this run, or the next.
    run_info ri     | run_info     |      | Tell what this run fetches and is fed.
    list_tensors lt | list_tensors | dump | List the tensors that were dumped.
    print_tensor pt | print_tensor | dump | Show a dumped tensor.
    print_feed pf   | print_feed   |      | Show what was fed.
    node_info ni    | node_info    | dump | Tell of a node: its op, device, inputs and users.
    list_inputs li  | list_inputs  | dump | Draw the tree of a node's inputs.
    list_outputs lo | list_outputs | dump | Draw the tree of the nodes that use a node.
    eval ev         | evaluate     | dump | Compute a Python expression, with tensors in backticks and numpy as np.
    version ver     | version      |      | Tell the versions.
    help h          | help         |      | Show this, or the help of one command.
    exit quit q     | exit         |      | Leave the debugger, and the program at its next run.
""")
_BY_NAME = {name: row for row in COMMANDS for name in row[0]}
