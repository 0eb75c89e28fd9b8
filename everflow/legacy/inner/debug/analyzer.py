"""tensorflow.python.debug.cli.analyzer_cli: what is asked of a dump, command by command, answered as text with colours
and with commands behind its parts.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from everflow.debug.dumps import DebugTensorDatum
from everflow.legacy.inner.debug import cli_config, cli_shared, command_parser, evaluator, names
from everflow.legacy.inner.debug.analyzer_parsers import COMMANDS, build_parsers
from everflow.legacy.inner.debug.rich_text import (
    MAIN_MENU_KEY,
    Menu,
    MenuItem,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from everflow.legacy.inner.debug.source_text import SourceText
from everflow.legacy.inner.debug.user_interfaces import get_ui

RL = cli_shared.RL
HANG_UNFINISHED, HANG_FINISHED, HANG_SUFFIX = "|  ", "   ", "|- "
DEPTH_TEMPLATE, OP_TYPE_TEMPLATE = "(%d) ", "[%s] "
CTRL_LABEL, ELLIPSIS = "(Ctrl) ", "..."
SORT_TENSORS_BY_TIMESTAMP, SORT_TENSORS_BY_DUMP_SIZE = "timestamp", "dump_size"
SORT_TENSORS_BY_OP_TYPE, SORT_TENSORS_BY_TENSOR_NAME = "op_type", "tensor_name"


def _add_main_menu(
    output: RichTextLines,
    node_name: str | None = None,
    enable_list_tensors: bool = True,
    enable_node_info: bool = True,
    enable_print_tensor: bool = True,
    enable_list_inputs: bool = True,
    enable_list_outputs: bool = True,
) -> None:
    """Give lines a menu: commands on a node, or those alone that need none."""
    menu = Menu()
    menu.append(MenuItem("list_tensors", "list_tensors", enabled=enable_list_tensors))
    for caption, options, enabled in (
        ("node_info", " -a -d -t", enable_node_info),
        ("print_tensor", "", enable_print_tensor),
        ("list_inputs", " -c -r", enable_list_inputs),
        ("list_outputs", " -c -r", enable_list_outputs),
    ):
        command = f"{caption}{options} {node_name}" if node_name else None
        menu.append(MenuItem(caption, command, enabled=enabled and command is not None))
    menu.append(MenuItem("run_info", "run_info"))
    menu.append(MenuItem("help", "help"))
    output.annotations[MAIN_MENU_KEY] = menu


def _link(text: str, command: str) -> Any:
    """Text with a command behind it."""
    return RL(text, MenuItem("", command))


class DebugAnalyzer(SourceText):
    """Answers to commands on the dump of a run."""

    _TIMESTAMP_COLUMN_HEAD, _DUMP_SIZE_COLUMN_HEAD = "t (ms)", "Size (B)"
    _OP_TYPE_COLUMN_HEAD, _TENSOR_NAME_COLUMN_HEAD = "Op type", "Tensor name"
    # What moves tensors between devices and out of the graph is no neighbour that anybody drew.
    _GRAPH_STRUCT_OP_TYPE_BLACKLIST = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval")

    def __init__(self, debug_dump: Any, config: Any) -> None:
        self._debug_dump = debug_dump
        self._evaluator = evaluator.ExpressionEvaluator(debug_dump)
        self._tensor_filters: dict[str, Callable] = {}
        self._build_argument_parsers(config)
        config.set_callback("graph_recursion_depth", self._build_argument_parsers)

    def _build_argument_parsers(self, config: Any) -> None:
        self._arg_parsers: dict[str, argparse.ArgumentParser] = build_parsers(config.get("graph_recursion_depth"))

    def get_help(self, handler_name: str) -> str:
        """What a command takes."""
        return self._arg_parsers[handler_name].format_help()

    def add_tensor_filter(self, filter_name: str, filter_callable: Callable) -> None:
        """Have a filter of dumped tensors, `f(datum, tensor)`, under a name."""
        if not isinstance(filter_name, str):
            raise TypeError(f"The name of a filter is a str, not a {type(filter_name).__name__}")
        if not filter_name:
            raise ValueError("A filter needs a name")
        if not callable(filter_callable):
            raise TypeError(f"A filter is a function, not a {type(filter_callable).__name__}")
        self._tensor_filters[filter_name] = filter_callable

    def get_tensor_filter(self, filter_name: str) -> Callable:
        """The filter of a name."""
        if filter_name not in self._tensor_filters:
            raise ValueError(f"There is no tensor filter {filter_name!r}")
        return self._tensor_filters[filter_name]

    # --- which tensors there are

    def list_tensors(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The dumped tensors in a table, perhaps only some of them."""
        parsed = self._arg_parsers["list_tensors"].parse_args(args)
        output = self._tensor_table(parsed)
        _add_main_menu(output, node_name=None, enable_list_tensors=False)
        return output

    def _tensor_table(self, parsed: argparse.Namespace) -> RichTextLines:
        dump, passing = self._debug_dump, ""
        data = dump.dumped_tensor_data
        if parsed.tensor_filter:
            try:
                chosen = self.get_tensor_filter(parsed.tensor_filter)
            except ValueError:
                return cli_shared.error(f'There is no tensor filter named "{parsed.tensor_filter}".')
            data = dump.find(chosen, exclude_node_names=parsed.filter_exclude_node_names)
            passing = f' passing filter "{parsed.tensor_filter}"'
        widths = self._measure_tensor_list_column_widths(data)
        lines = []
        for pattern, what, value_of in (
            (parsed.op_type_filter, "Op type", lambda datum: dump.node_op_type(datum.node_name)),
            (parsed.node_name_filter, "Node name", lambda datum: datum.node_name),
        ):
            if pattern:
                lines.append(RL(f'{what} regex filter: "{pattern}"'))
                data = [datum for datum in data if re.match(pattern, value_of(datum))]
        rows = [self._row(datum, widths) for datum in self._sort_dump_data_by(data, parsed.sort_by, parsed.reverse)]
        output = rich_text_lines_from_rich_line_list([RL(f"{len(rows)} dumped tensor(s){passing}:"), *lines, RL()])
        output.extend(self._tensor_list_column_heads(parsed, *widths))
        output.extend(rich_text_lines_from_rich_line_list(rows))
        return output

    def _row(self, datum: DebugTensorDatum, widths: tuple[int, int, int]) -> Any:
        cells = f"[{self._milliseconds(datum)}]", cli_shared.bytes_to_readable_str(datum.dump_size_bytes)
        cells += (self._debug_dump.node_op_type(datum.node_name),)
        line = RL("".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)))
        return line + _link(datum.tensor_name, f"pt {datum.tensor_name}")

    def _milliseconds(self, datum: DebugTensorDatum) -> str:
        return f"{(datum.timestamp - self._debug_dump.t0) / 1000.0:.3f}"

    def _measure_tensor_list_column_widths(self, data: Iterable[DebugTensorDatum]) -> tuple[int, int, int]:
        """How wide the columns of times, sizes and op types are, with a blank."""
        columns = [[self._TIMESTAMP_COLUMN_HEAD], [self._DUMP_SIZE_COLUMN_HEAD], [self._OP_TYPE_COLUMN_HEAD]]
        for datum in data:
            columns[0].append(f"[{self._milliseconds(datum)}]")
            columns[1].append(cli_shared.bytes_to_readable_str(datum.dump_size_bytes))
            columns[2].append(self._debug_dump.node_op_type(datum.node_name))
        times, sizes, types = (max(map(len, column)) + 1 for column in columns)
        return times, sizes, types

    def _sort_dump_data_by(self, data: Iterable[DebugTensorDatum], sort_by: str, reverse: bool) -> list:
        keys = {
            SORT_TENSORS_BY_TIMESTAMP: lambda datum: datum.timestamp,
            SORT_TENSORS_BY_DUMP_SIZE: lambda datum: datum.dump_size_bytes,
            SORT_TENSORS_BY_OP_TYPE: lambda datum: self._debug_dump.node_op_type(datum.node_name),
            SORT_TENSORS_BY_TENSOR_NAME: lambda datum: f"{datum.node_name}:{datum.output_slot}",
        }
        if sort_by not in keys:
            raise ValueError(f"Tensors can't be sorted by {sort_by!r}, only by one of {list(keys)}")
        return sorted(data, key=keys[sort_by], reverse=reverse)

    def _tensor_list_column_heads(
        self,
        parsed: argparse.Namespace,
        max_timestamp_width: int,
        max_dump_size_width: int,
        max_op_type_width: int,
    ) -> RichTextLines:
        """The heads of the table; behind each is the command that sorts by it, or turns the order round."""
        command = "list_tensors"
        for flag, value in (
            ("-f", parsed.tensor_filter),
            ("-t", parsed.op_type_filter),
            ("-n", parsed.node_name_filter),
        ):
            command += f" {flag} {value}" if value else ""
        line = RL()
        for head, width, key in (
            (self._TIMESTAMP_COLUMN_HEAD, max_timestamp_width, SORT_TENSORS_BY_TIMESTAMP),
            (self._DUMP_SIZE_COLUMN_HEAD, max_dump_size_width, SORT_TENSORS_BY_DUMP_SIZE),
            (self._OP_TYPE_COLUMN_HEAD, max_op_type_width, SORT_TENSORS_BY_OP_TYPE),
            (self._TENSOR_NAME_COLUMN_HEAD, 0, SORT_TENSORS_BY_TENSOR_NAME),
        ):
            turned = " -r" if parsed.sort_by == key and not parsed.reverse else ""
            line += RL(head, [MenuItem("", f"{command} -s {key}{turned}"), "bold"]) + " " * (width - len(head))
        return rich_text_lines_from_rich_line_list([line])

    # --- what a node is

    def node_info(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """A node's op, device and neighbours; also its attributes, its dumps and the lines that made it."""
        parsed = self._arg_parsers["node_info"].parse_args(args)
        node, _ = names.parse_node_or_tensor_name(parsed.node_name)
        dump = self._debug_dump
        if not dump.node_exists(node):
            return self._unknown(node)
        lines = [RL("Node ") + RL(node, "bold"), RL(), RL(f"  Op: {dump.node_op_type(node)}")]
        lines.append(RL(f"  Device: {dump.node_device(node)}"))
        output = rich_text_lines_from_rich_line_list(lines)
        for kind, found in (("input", dump.node_inputs), ("recipient", dump.node_recipients)):
            plain, control = (self._exclude_blacklisted_ops(found(node, is_control=c)) for c in (False, True))
            output.extend(self._format_neighbors(kind, plain, control))
        if parsed.attributes:
            output.extend(self._list_node_attributes(node))
        if parsed.dumps:
            output.extend(self._list_node_dumps(node))
        if parsed.traceback:
            output.extend(self._render_node_traceback(node))
        _add_main_menu(output, node_name=node, enable_node_info=False)
        return output

    def _unknown(self, node: str) -> RichTextLines:
        output = cli_shared.error(f'The graphs that ran have no node named "{node}"')
        _add_main_menu(output, node_name=None)
        return output

    def _exclude_blacklisted_ops(self, node_names: Iterable[str]) -> list[str]:
        return [name for name in node_names if self._op_type(name) not in self._GRAPH_STRUCT_OP_TYPE_BLACKLIST]

    def _op_type(self, name: str) -> str:
        """The op type of a neighbour; what was fed has no node in the graph that ran."""
        node = names.get_node_name(name)
        return self._debug_dump.node_op_type(node) if self._debug_dump.node_exists(node) else "_Arg"

    def _format_neighbors(self, neighbor_type: str, non_ctrls: list[str], ctrls: list[str]) -> RichTextLines:
        """The lines of a node's neighbours on one side."""
        counts = f"  {len(non_ctrls)} {neighbor_type}(s) + {len(ctrls)} control {neighbor_type}(s):"
        lines = [RL(), RL(counts), RL(f"    {len(non_ctrls)} {neighbor_type}(s):")]
        lines += map(self._neighbor, non_ctrls)
        if ctrls:
            lines += [RL(), RL(f"    {len(ctrls)} control {neighbor_type}(s):"), *map(self._neighbor, ctrls)]
        return rich_text_lines_from_rich_line_list(lines)

    def _neighbor(self, name: str) -> Any:
        return RL(f"      [{self._op_type(name)}] ") + _link(name, f"ni -a -d -t {name}")

    def _list_node_attributes(self, node_name: str) -> RichTextLines:
        lines = ["", "Node attributes:"]
        for key, value in self._debug_dump.node_attributes(node_name).items():
            lines += [f"  {key}:", "    " + str(value).strip().replace("\n", " "), ""]
        return RichTextLines(lines)

    def _list_node_dumps(self, node_name: str) -> RichTextLines:
        lines = []
        for key in self._debug_dump.debug_watch_keys(node_name):
            for datum in self._debug_dump.watch_key_to_data(key):
                text = f"Slot {datum.output_slot} @ {datum.debug_op} @ {self._milliseconds(datum)} ms"
                lines.append(RL("  ") + _link(text, f"pt {node_name}:{datum.output_slot} -n {len(lines)}"))
        return rich_text_lines_from_rich_line_list([RL(f"{len(lines)} dumped tensor(s):"), RL(), *lines])

    def _render_node_traceback(self, node_name: str) -> RichTextLines:
        lines = [RL(), RL(), RL("Traceback of node construction:", "bold")]
        try:
            frames = self._debug_dump.node_traceback(node_name)
        except LookupError:
            lines.append(RL("(unknown: there is no Python graph to ask)"))
            return rich_text_lines_from_rich_line_list(lines)
        for depth, (path, number, function, text, *_) in enumerate(frames):
            lines += [RL(f"{depth}: {path}"), RL("  ") + _link(f"Line:     {number}", f"ps {path} -b {number}")]
            lines += [RL(f"  Function: {function or '(<module>)'}"), RL(f'  Text:     "{text}"'), RL()]
        return rich_text_lines_from_rich_line_list(lines)

    # --- how nodes hang together

    def list_inputs(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The inputs of a node, and theirs."""
        return self._listed("list_inputs", args, do_outputs=False)

    def list_outputs(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """What uses a node, and what uses that."""
        return self._listed("list_outputs", args, do_outputs=True)

    def _listed(self, command: str, args: Sequence[str], do_outputs: bool) -> RichTextLines:
        parsed = self._arg_parsers[command].parse_args(args)
        node, _ = names.parse_node_or_tensor_name(parsed.node_name)
        if self._debug_dump.node_exists(node):
            output = self._list_inputs_or_outputs(
                parsed.recursive, node, parsed.depth, parsed.control, parsed.op_type, do_outputs=do_outputs
            )
        else:
            output = self._unknown(node)
        _add_main_menu(output, node, enable_list_inputs=do_outputs, enable_list_outputs=not do_outputs)
        return output

    def _list_inputs_or_outputs(
        self, recursive: bool, node_name: str, depth: int, control: bool, op_type: bool, do_outputs: bool = False
    ) -> RichTextLines:
        """A tree of a node's neighbours on one side."""
        find = self._debug_dump.node_recipients if do_outputs else self._debug_dump.node_inputs
        what, several, command = ("Recipients of", "recipients", "lo") if do_outputs else ("Inputs to", "inputs", "li")
        limit = depth if recursive else 1
        included = f", control {several} included" if control else ""
        lines = [RL(f'{what} node "') + RL(node_name, "bold") + f'" (Depth limit = {limit}{included}):']

        def of(name: str) -> list[tuple[str, str]]:
            node = names.get_node_name(name)
            if not self._debug_dump.node_exists(node):
                return []
            found = [("", other) for other in self._exclude_blacklisted_ops(find(node))]
            if control:
                found += [(CTRL_LABEL, other) for other in self._exclude_blacklisted_ops(find(node, is_control=True))]
            return found

        def walk(name: str, level: int, hang: str) -> None:
            found = of(name)
            for i, (label, other) in enumerate(found):
                kind = OP_TYPE_TEMPLATE % self._op_type(other) if op_type else ""
                before = hang + HANG_SUFFIX + DEPTH_TEMPLATE % level + label + kind
                lines.append(RL(before) + _link(other, f"{command} -c -r {other}"))
                below = hang + (HANG_FINISHED if i == len(found) - 1 else HANG_UNFINISHED)
                if level < limit:
                    walk(other, level + 1, below)
                elif of(other):
                    lines.append(RL(below + HANG_SUFFIX + ELLIPSIS))

        walk(node_name, 1, "")
        if len(lines) == 1:
            lines.append(RL("  [None]"))
        lines += [RL(), RL("Legend:"), RL("  (d): recursion depth = d.")]
        lines += [RL("  (Ctrl): Control input.")] * control + [RL("  [Op]: Input node has op type Op.")] * op_type
        return rich_text_lines_from_rich_line_list(lines)

    # --- what tensors hold

    def print_tensor(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """A dumped tensor's value, or which of its dumps there are."""
        parsed = self._arg_parsers["print_tensor"].parse_args(args)
        tensor, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        node, slot = names.parse_node_or_tensor_name(tensor)
        if self._debug_dump.loaded_partition_graphs() and not self._debug_dump.node_exists(node):
            output = cli_shared.error(f'Node "{node}" does not exist in partition graphs')
            _add_main_menu(output, node_name=None)
            return output
        keys = self._debug_dump.debug_watch_keys(node)
        if slot is None:
            slots = list(dict.fromkeys(int(key.split(":")[1]) for key in keys))
            if len(slots) > 1:
                words = [f'Node "{node}" generated debug dumps from {len(slots)} output slots:']
                output = RichTextLines([*words, f"Please specify the output slot: {node}:x."])
                _add_main_menu(output, node_name=node, enable_print_tensor=False)
                return output
            slot = slots[0] if slots else 0
        data = [
            datum
            for key in keys
            if key.startswith(f"{node}:{slot}:")
            for datum in self._debug_dump.watch_key_to_data(key)
        ]
        if not data:
            return cli_shared.error(f'Tensor "{node}:{slot}" did not generate any dumps.')
        output = self._dump_of(parsed, tensor, slicing, data, screen_info)
        _add_main_menu(output, node_name=node, enable_print_tensor=False)
        return output

    def _dump_of(self, parsed: argparse.Namespace, tensor: str, slicing: str, data: list, screen: Any) -> RichTextLines:
        number, count = parsed.number, len(data)
        if count == 1 and number > 0:
            return cli_shared.error(f"There is one dump of tensor {tensor}, so {number} is no number of one.")
        if count > 1 and number < 0:
            return self._dumps_of(tensor, data)
        if number >= count:
            return cli_shared.error(f"There are {count} dumps of tensor {tensor}, so {number} is no number of one")
        datum = data[number if count > 1 else 0]
        return cli_shared.format_tensor(
            datum.get_tensor(),
            datum.watch_key + (f" (dump #{number})" if count > 1 else ""),
            cli_shared.numpy_printoptions_from_screen_info(screen),
            print_all=parsed.print_all,
            tensor_slicing=slicing,
            highlight_options=cli_shared.parse_ranges_highlight(parsed.ranges),
            include_numeric_summary=parsed.numeric_summary,
            write_path=parsed.write_path,
        )

    def _dumps_of(self, tensor: str, data: list) -> RichTextLines:
        lines = [RL(f'Tensor "{tensor}" generated {len(data)} dumps:')]
        for number, datum in enumerate(data):
            before = f"#{number} [{self._milliseconds(datum)} ms] "
            lines.append(RL(before) + _link(datum.watch_key, f"print_tensor {tensor} -n {number}"))
        lines += [RL(), RL("Choose one with -n (--number).")]
        lines += [RL("For example:"), RL(f"  print_tensor {tensor} -n 0")]
        return rich_text_lines_from_rich_line_list(lines)

    def evaluate_expression(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The value of an expression, with dumped tensors in backticks."""
        parsed = self._arg_parsers["eval"].parse_args(args)
        return cli_shared.format_tensor(
            self._evaluator.evaluate(parsed.expression),
            f"from eval of expression '{parsed.expression}'",
            cli_shared.numpy_printoptions_from_screen_info(screen_info),
            print_all=parsed.print_all,
            include_numeric_summary=True,
            write_path=parsed.write_path,
        )

    # --- where nodes were made

    def list_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The files that made nodes."""
        output = self._source_files(self._arg_parsers["list_source"].parse_args(args))
        _add_main_menu(output, node_name=None)
        return output

    def print_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The lines of a file, and what they made."""
        output = self._source_lines(self._arg_parsers["print_source"].parse_args(args))
        _add_main_menu(output, node_name=None)
        return output


def create_analyzer_ui(
    debug_dump: Any,
    tensor_filters: dict[str, Callable] | None = None,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: Any = None,
) -> Any:
    """What reads commands on a dump and shows the answers."""
    config = config or cli_config.CLIConfig()
    analyzer = DebugAnalyzer(debug_dump, config)
    for name, chosen in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, chosen)
    ui = get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for parser, (command, alias, method) in COMMANDS.items():
        ui.register_command_handler(
            command, getattr(analyzer, method), analyzer.get_help(parser), prefix_aliases=[alias]
        )
    tensors = sorted({datum.tensor_name for datum in debug_dump.dumped_tensor_data})
    ui.register_tab_comp_context(["print_tensor", "pt"], tensors)
    return ui
