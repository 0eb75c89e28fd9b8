"""tensorflow.python.debug.cli.profile_analyzer_cli: how long the nodes of a run took, in tables and beside the lines of the
program that made them.
"""

from __future__ import annotations

import argparse
import collections
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from everflow.legacy.inner.debug import cli_config, cli_shared, command_parser
from everflow.legacy.inner.debug import source_lines as source_utils
from everflow.legacy.inner.debug.command_parser import Interval
from everflow.legacy.inner.debug.profiling import AggregateProfile, ProfileDatum
from everflow.legacy.inner.debug.rich_text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from everflow.legacy.inner.debug.user_interfaces import get_ui

RL = cli_shared.RL
SORT_OPS_BY_OP_NAME, SORT_OPS_BY_OP_TYPE, SORT_OPS_BY_LINE = "node", "op_type", "line"
SORT_OPS_BY_OP_TIME, SORT_OPS_BY_EXEC_TIME, SORT_OPS_BY_START_TIME = "op_time", "exec_time", "start_time"
_DEVICE_NAME_FILTER_FLAG, _NODE_NAME_FILTER_FLAG = "device_name_filter", "node_name_filter"
_OP_TYPE_FILTER_FLAG = "op_type_filter"
_FILTERS = (_DEVICE_NAME_FILTER_FLAG, _NODE_NAME_FILTER_FLAG, _OP_TYPE_FILTER_FLAG)
_BAR = 10
_KEYS: dict[str, Callable[[ProfileDatum], Any]] = {
    SORT_OPS_BY_OP_NAME: lambda datum: datum.node_exec_stats.node_name,
    SORT_OPS_BY_OP_TYPE: lambda datum: datum.op_type,
    SORT_OPS_BY_LINE: lambda datum: (datum.file_path, datum.line_number),
    SORT_OPS_BY_OP_TIME: lambda datum: datum.op_time,
    SORT_OPS_BY_EXEC_TIME: lambda datum: datum.exec_time,
    SORT_OPS_BY_START_TIME: lambda datum: datum.start_time,
}


def _given(filters: Mapping[str, str | None]) -> str:
    """The filters that are given, as words of a command."""
    return "".join(f" --{flag} {filters[flag]}" for flag in _FILTERS if filters.get(flag))


class ProfileDataTableView:
    """Times of nodes as the cells of a table."""

    def __init__(self, profile_datum_list: list[ProfileDatum], time_unit: str = cli_shared.TIME_UNIT_US) -> None:
        self._data = profile_datum_list
        self.formatted_start_time = [str(datum.start_time) for datum in profile_datum_list]
        self.formatted_op_time = [cli_shared.time_to_readable_str(d.op_time, time_unit) for d in profile_datum_list]
        self.formatted_exec_time = [cli_shared.time_to_readable_str(d.exec_time, time_unit) for d in profile_datum_list]
        self._heads = {
            SORT_OPS_BY_OP_NAME: "Node",
            SORT_OPS_BY_OP_TYPE: "Op Type",
            SORT_OPS_BY_START_TIME: "Start Time (us)",
            SORT_OPS_BY_OP_TIME: f"Op Time ({time_unit})",
            SORT_OPS_BY_EXEC_TIME: f"Exec Time ({time_unit})",
            SORT_OPS_BY_LINE: "Filename:Lineno(function)",
        }

    def value(
        self,
        row: int,
        col: int,
        device_name_filter: str | None = None,
        node_name_filter: str | None = None,
        op_type_filter: str | None = None,
    ) -> Any:
        """The text of a cell. That of a line of source has the command behind it which prints the file."""
        datum = self._data[row]
        plain = (
            datum.node_exec_stats.node_name,
            datum.op_type,
            self.formatted_start_time[row],
            self.formatted_op_time[row],
            self.formatted_exec_time[row],
        )
        if col < len(plain):
            return RL(plain[col])
        filters = dict(zip(_FILTERS, (device_name_filter, node_name_filter, op_type_filter), strict=True))
        command = f"ps{_given(filters)} {datum.file_path} --init_line {datum.line_number}"
        text = f"{os.path.basename(datum.file_path)}:{datum.line_number}({datum.func_name})" if datum.file_path else ""
        return RL(text, MenuItem("", command))

    def row_count(self) -> int:
        """How many nodes there are."""
        return len(self._data)

    def column_count(self) -> int:
        """How much is told of each."""
        return len(self._heads)

    def column_names(self) -> list[str]:
        """The heads of the columns."""
        return list(self._heads.values())

    def column_sort_id(self, col: int) -> str:
        """What to sort by for the order of a column."""
        return list(self._heads)[col]


def _list_profile_filter(
    profile_datum: ProfileDatum,
    node_name_regex: re.Pattern | str | None,
    file_path_regex: re.Pattern | str | None,
    op_type_regex: re.Pattern | str | None,
    op_time_interval: Interval | None,
    exec_time_interval: Interval | None,
    min_lineno: int = -1,
    max_lineno: int = -1,
) -> bool:
    """Whether a node is wanted; `max_lineno` is the first line that isn't any more."""
    for pattern, text in (
        (node_name_regex, profile_datum.node_exec_stats.node_name),
        (file_path_regex, profile_datum.file_path),
        (op_type_regex, profile_datum.op_type),
    ):
        if pattern and (text is None or not re.match(pattern, text)):
            return False
    for interval, time in ((op_time_interval, profile_datum.op_time), (exec_time_interval, profile_datum.exec_time)):
        if interval is not None and not interval.contains(time):
            return False
    return not (
        (min_lineno > 0 and profile_datum.line_number < min_lineno)
        or (max_lineno > 0 and profile_datum.line_number >= max_lineno)
    )


def _list_profile_sort_key(profile_datum: ProfileDatum, sort_by: str) -> Any:
    """What a node is sorted by: its start where `sort_by` is none of the columns."""
    return _KEYS.get(sort_by, _KEYS[SORT_OPS_BY_START_TIME])(profile_datum)


class ProfileAnalyzer:
    """Answers to commands on the times of a run."""

    _LINENO_HEAD, _SOURCE_HEAD = "lineno", "source"
    _NUM_NODES_HEAD, _NUM_EXECS_SUB_HEAD = "#nodes", "(#execs)"
    _LINE_COST_ATTR, _LINE_NUM_ATTR = cli_shared.COLOR_CYAN, cli_shared.COLOR_YELLOW

    def __init__(self, graph: Any, run_metadata: Any) -> None:
        if graph is None:
            raise ValueError("A graph is wanted, to tell which lines made its nodes")
        self._graph = graph
        self._run_metadata = run_metadata
        self._arg_parsers = {"list_profile": _parser_of_list(), "print_source": _parser_of_source()}

    def get_help(self, handler_name: str) -> str:
        """What a command takes."""
        return self._arg_parsers[handler_name].format_help()

    # --- tables

    def list_profile(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """A table for each device."""
        cols = screen_info["cols"] if screen_info and "cols" in screen_info else 80
        parsed = self._arg_parsers["list_profile"].parse_args(args)
        op_time = command_parser.parse_time_interval(parsed.op_time) if parsed.op_time else None
        exec_time = command_parser.parse_time_interval(parsed.execution_time) if parsed.execution_time else None
        wanted = (
            *(parsed.node_name_filter, parsed.file_path_filter, parsed.op_type_filter, op_time, exec_time),
            *(parsed.min_lineno, parsed.max_lineno),
        )
        by_device: dict[str, list[ProfileDatum]] = collections.OrderedDict()
        for dev_stats in self._run_metadata.step_stats.dev_stats:
            by_device.setdefault(dev_stats.device, [])
        for datum in self._get_profile_data_generator()():
            if _list_profile_filter(datum, *wanted):
                by_device[datum.device_name].append(datum)
        output = RichTextLines([""])
        for index, (device, data) in enumerate(by_device.items()):
            if parsed.device_name_filter and not re.match(parsed.device_name_filter, device):
                continue
            output.extend(
                self._get_list_profile_lines(
                    *(device, index, len(by_device), data, parsed.sort_by, parsed.reverse, parsed.time_unit),
                    device_name_filter=parsed.device_name_filter,
                    node_name_filter=parsed.node_name_filter,
                    op_type_filter=parsed.op_type_filter,
                    screen_cols=cols,
                )
            )
        return output

    def _get_profile_data_generator(self) -> Callable[[], Iterator[ProfileDatum]]:
        """A function that gives the times of all nodes, with the innermost line of a program that made each."""
        made = {op.name: op for op in self._graph.get_operations()}

        def line_of(op: Any) -> tuple[str, int, str]:
            for path, line, function, *_ in reversed(op.traceback if op is not None else ()):
                if not source_utils.guess_is_tensorflow_py_library(path):
                    return path, line, function
            return "", 0, ""

        def generate() -> Iterator[ProfileDatum]:
            for dev_stats in self._run_metadata.step_stats.dev_stats:
                for stats in dev_stats.node_stats:
                    if stats.node_name not in ("_SOURCE", "_SINK"):
                        op = made.get(stats.node_name)
                        yield ProfileDatum(dev_stats.device, stats, *line_of(op), op.type if op is not None else "")

        return generate

    def _get_list_profile_lines(
        self,
        device_name: str,
        device_index: int,
        device_count: int,
        profile_datum_list: list[ProfileDatum],
        sort_by: str,
        sort_reverse: bool,
        time_unit: str,
        device_name_filter: str | None = None,
        node_name_filter: str | None = None,
        op_type_filter: str | None = None,
        screen_cols: int = 80,
    ) -> RichTextLines:
        """The table of a device."""
        data = sorted(
            profile_datum_list, key=lambda datum: _list_profile_sort_key(datum, sort_by), reverse=sort_reverse
        )
        view = ProfileDataTableView(data, time_unit=time_unit)
        widths = self._measure_list_profile_column_widths(view)
        head = RL()
        for col, (name, width) in enumerate(zip(view.column_names(), widths, strict=True)):
            key = view.column_sort_id(col)
            turned = " -r" if sort_by == key and not sort_reverse else ""
            head += RL(name, [MenuItem("", f"list_profile -s {key}{turned}"), "bold"]) + " " * (width - len(name))
        lines = [RL("-" * screen_cols), RL(f"Device {device_index + 1} of {device_count}: {device_name}"), RL(), head]
        for row in range(view.row_count()):
            line = RL()
            for col, width in enumerate(widths):
                cell = view.value(row, col, device_name_filter, node_name_filter, op_type_filter)
                line += cell
                line += " " * (width - len(cell))
            lines.append(line)
        totals = (
            *("Device Total", ""),
            cli_shared.time_to_readable_str(sum(datum.op_time for datum in data), time_unit),
            cli_shared.time_to_readable_str(sum(datum.exec_time for datum in data), time_unit),
        )
        lines += [RL(), RL("".join(cell.ljust(width) for cell, width in zip(totals, widths, strict=False)))]
        return rich_text_lines_from_rich_line_list(lines)

    def _measure_list_profile_column_widths(self, profile_data: ProfileDataTableView) -> list[int]:
        """How wide columns are, with two blanks."""
        longest = [len(name) for name in profile_data.column_names()]
        longest[0] = max(longest[0], len("Device Total"))
        for row in range(profile_data.row_count()):
            for col, before in enumerate(longest):
                longest[col] = max(before, len(profile_data.value(row, col)))
        return [width + 2 for width in longest]

    # --- lines of source

    def print_source(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """A file, and beside each line what the nodes that it made took."""
        parsed = self._arg_parsers["print_source"].parse_args(args)
        device = parsed.device_name_filter
        found = source_utils.annotate_source_against_profile(
            (
                datum
                for datum in self._get_profile_data_generator()()
                if not device or re.match(device, datum.device_name)
            ),
            os.path.expanduser(parsed.source_file_path),
            node_name_filter=parsed.node_name_filter,
            op_type_filter=parsed.op_type_filter,
        )
        if not found:
            return RichTextLines(
                [
                    f"Nothing of the last run was drawn in {parsed.source_file_path} that passes these filters:",
                    *(f"  --{flag}: {getattr(parsed, flag)}" for flag in _FILTERS),
                ]
            )
        source, width = source_utils.load_source(parsed.source_file_path)
        costs = {line: self._get_total_cost(profile, parsed.cost_type) for line, profile in found.items()}
        most = max(costs.values())
        before, cost_width, count_width = _BAR + 3, len(parsed.cost_type) + 3, len(self._NUM_EXECS_SUB_HEAD) + 1
        counts = self._NUM_NODES_HEAD.ljust(count_width), self._NUM_EXECS_SUB_HEAD.ljust(count_width)
        output = [
            RL(" " * before + parsed.cost_type.ljust(cost_width) + counts[0], self._LINE_COST_ATTR)
            + RL(self._LINENO_HEAD, self._LINE_NUM_ATTR),
            RL(" " * (before + cost_width) + counts[1] + " " * width, self._LINE_COST_ATTR)
            + RL(self._SOURCE_HEAD, "bold"),
        ]
        first = None
        for number, text in enumerate(source, 1):
            if number == parsed.init_line:
                first = len(output)
            if number in found:
                line = self._render_normalized_cost_bar(costs[number], most, _BAR) + " "
                line = self._cell(line, cli_shared.time_to_readable_str(costs[number], parsed.time_unit), cost_width)
                count = f"{found[number].node_count}({found[number].node_exec_count})"
                path = re.escape(parsed.source_file_path)
                command = f"lp --file_path_filter {path}$ --min_lineno {number} --max_lineno {number + 1}"
                line = self._cell(line, count, count_width, MenuItem("", command + _given(vars(parsed))))
            else:
                line = RL(" " * (before + cost_width + count_width))
            label = f" L{number}"
            output.append(line + RL(label, self._LINE_NUM_ATTR) + " " * (width - len(label)) + text)
        annotations = {} if first is None else {INIT_SCROLL_POS_KEY: first}
        return rich_text_lines_from_rich_line_list(output, annotations=annotations)

    def _cell(self, line: Any, text: str, width: int, link: MenuItem | None = None) -> Any:
        attrs = [self._LINE_COST_ATTR, link] if link else self._LINE_COST_ATTR
        return line + RL(text, attrs) + " " * (width - len(text))

    def _get_total_cost(self, aggregated_profile: AggregateProfile, cost_type: str) -> int:
        if cost_type not in ("exec_time", "op_time"):
            raise ValueError(f"A cost is an exec_time or an op_time, not a {cost_type!r}")
        total: int = getattr(aggregated_profile, f"total_{cost_type}")
        return total

    def _render_normalized_cost_bar(self, cost: float, max_cost: float, length: int) -> Any:
        """A bar as long as its part of the largest cost, but never without a stroke."""
        strokes = max(1, math.ceil(length * cost / max_cost))
        inside = RL("|" * strokes + " " * (length - strokes), ["bold", self._LINE_COST_ATTR])
        return RL("[", self._LINE_COST_ATTR) + inside + RL("]", self._LINE_COST_ATTR)


def _with_filters(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    for short, flag in zip("dnt", _FILTERS, strict=True):
        what = flag.removesuffix("_filter").replace("_", " ")
        parser.add_argument(f"-{short}", f"--{flag}", type=str, default="", help=f"only where the {what} matches")
    units = ", ".join(cli_shared.TIME_UNITS)
    parser.add_argument("--time_unit", type=str, default=cli_shared.TIME_UNIT_US, help=f"the unit of times: {units}")
    return parser


def _parser_of_list() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="List how long nodes took.", usage=argparse.SUPPRESS)
    for flags, what in (
        (("-f", "--file_path_filter"), "only nodes made in files whose paths match"),
        (("-e", "--execution_time"), "only nodes that took so long: >=5ms, [1us, 1s)"),
        (("-o", "--op_time"), "only nodes whose ops alone took so long"),
    ):
        parser.add_argument(*flags, type=str, default="", help=what)
    parser.add_argument("--min_lineno", type=int, default=-1, help="only nodes made from this line on")
    parser.add_argument("--max_lineno", type=int, default=-1, help="only nodes made before this line")
    parser.add_argument(
        "-s", "--sort_by", type=str, default=SORT_OPS_BY_START_TIME, help=f"what to sort by: {', '.join(_KEYS)}"
    )
    parser.add_argument("-r", "--reverse", action="store_true", help="the last one first")
    return _with_filters(parser)


def _parser_of_source() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Print a file with what its lines took.", usage=argparse.SUPPRESS)
    parser.add_argument("source_file_path", type=str, help="which file")
    parser.add_argument(
        "--cost_type",
        type=str,
        default="exec_time",
        choices=["exec_time", "op_time"],
        help="with or without what is done around ops",
    )
    parser.add_argument("--init_line", type=int, default=0, help="the line to show first")
    return _with_filters(parser)


def create_profiler_ui(
    graph: Any,
    run_metadata: Any,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: Any = None,
) -> Any:
    """What reads commands on the times of a run and shows the answers."""
    analyzer = ProfileAnalyzer(graph, run_metadata)
    ui = get_ui(ui_type, on_ui_exit=on_ui_exit, config=config or cli_config.CLIConfig())
    for command, alias in (("list_profile", "lp"), ("print_source", "ps")):
        ui.register_command_handler(
            command, getattr(analyzer, command), analyzer.get_help(command), prefix_aliases=[alias]
        )
    return ui
