"""tensorflow.python.debug.cli.cli_shared: pieces of text that several screens of the debugger have."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from everflow.debug.run_keys import get_flattened_names, get_graph_element_name
from everflow.legacy.inner.debug import command_parser, tensor_format
from everflow.legacy.inner.debug.rich_text import (
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

RL = RichLine
COLOR_BLACK, COLOR_BLUE, COLOR_CYAN, COLOR_GRAY, COLOR_GREEN = "black", "blue", "cyan", "gray", "green"
COLOR_MAGENTA, COLOR_RED, COLOR_WHITE, COLOR_YELLOW = "magenta", "red", "white", "yellow"
DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000
TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S = TIME_UNITS = ["us", "ms", "s"]
_HORIZONTAL_BAR = "=" * 38
_FINE_BAR = "-" * 38


def bytes_to_readable_str(num_bytes: float | None, include_b: bool = False) -> str:
    """A number of bytes in k, M or G."""
    if num_bytes is None:
        return str(num_bytes)
    units = [(2**30, "G"), (2**20, "M"), (2**10, "k")]
    size = next((f"{num_bytes / unit:.2f}{name}" for unit, name in units if num_bytes >= unit), None)
    return (size or f"{num_bytes:d}") + ("B" if include_b else "")


def time_to_readable_str(value_us: float | None, force_time_unit: str | None = None) -> str:
    """A number of microseconds, in a unit that suits it or in the one that is asked for."""
    if not value_us:
        return "0"
    if force_time_unit is not None:
        if force_time_unit not in TIME_UNITS:
            raise ValueError(f"{force_time_unit!r} is not among the units of time: {TIME_UNITS}")
        scale = TIME_UNITS.index(force_time_unit)
        return f"{value_us / 1000.0**scale:.10g}{force_time_unit}"
    scale = min(int(math.log10(value_us) / 3), len(TIME_UNITS) - 1) if value_us > 1 else 0
    scale -= value_us == 1000.0**scale and scale > 0
    return f"{value_us / 1000.0**scale:.3g}{TIME_UNITS[scale]}"


def parse_ranges_highlight(ranges_string: str | None) -> tensor_format.HighlightOptions | None:
    """What shows the elements in ranges, `[low, high]` or several of them, otherwise."""
    if not ranges_string:
        return None
    ranges = command_parser.parse_ranges(ranges_string)

    def inside(array: np.ndarray) -> np.ndarray:
        found = np.zeros(array.shape, bool)
        for low, high in ranges:
            found |= (array >= low) & (array <= high)
        return found

    return tensor_format.HighlightOptions(inside, description=ranges_string)


def numpy_printoptions_from_screen_info(screen_info: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of numpy's printing that fit a screen."""
    return {"linewidth": screen_info["cols"]} if screen_info and "cols" in screen_info else {}


def format_tensor(
    tensor: Any,
    tensor_name: str,
    np_printoptions: Mapping[str, Any],
    print_all: bool = False,
    tensor_slicing: str | None = None,
    highlight_options: tensor_format.HighlightOptions | None = None,
    include_numeric_summary: bool = False,
    write_path: str | None = None,
) -> RichTextLines:
    """The lines of a tensor, or of a slice of it, which is written to a file, too, where a path is given."""
    if tensor_slicing:
        value, name = command_parser.evaluate_tensor_slice(tensor, tensor_slicing), tensor_name + tensor_slicing
    else:
        value, name = tensor, tensor_name
    written = None
    if write_path:
        with open(write_path, "wb") as file:
            np.save(file, value)
        line = RL("Saved value to: ") + RL(write_path, font_attr="bold")
        line += RL(f" ({bytes_to_readable_str(os.path.getsize(write_path), include_b=True)})")
        written = rich_text_lines_from_rich_line_list([line, RL()])
    threshold = value.size + 1 if print_all and isinstance(value, np.ndarray) else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return tensor_format.format_tensor(
        value,
        name,
        include_metadata=True,
        auxiliary_message=written,
        include_numeric_summary=include_numeric_summary,
        np_printoptions={**np_printoptions, "threshold": threshold},
        highlight_options=highlight_options,
    )


def error(msg: str) -> RichTextLines:
    """What tells of an error."""
    return rich_text_lines_from_rich_line_list([RL(f"ERROR: {msg}", COLOR_RED)])


def _recommend_command(command: str, description: str, indent: int = 2, create_link: bool = False) -> RichTextLines:
    """A command and what it does, on two lines."""
    attributes: Any = [MenuItem("", command), "bold"] if create_link else "bold"
    space = " " * indent
    lines = [RL(space) + RL(command, attributes) + ":", RL(f"{space}  {description}")]
    return rich_text_lines_from_rich_line_list(lines)


def get_tfdbg_logo() -> RichTextLines:
    """What the debugger greets with."""
    return RichTextLines(["", "tfdbg, the debugger of runs", ""])


def _description(feed_or_fetch: Any) -> str:
    return get_graph_element_name(feed_or_fetch)


def get_run_start_intro(
    run_call_count: int,
    fetches: Any,
    feed_dict: Mapping | None,
    tensor_filters: Mapping[str, Any],
    is_callable_runner: bool = False,
) -> RichTextLines:
    """What stands on the screen before a run: what is fetched and fed, and the commands there are."""
    made = RichTextLines([_HORIZONTAL_BAR])
    if is_callable_runner:
        made.append("Calling what Session.make_callable() gave")
    else:
        made.append(f"Session.run() call #{run_call_count}:")
        made.append("")
        made.append("Fetch(es):")
        made.extend(RichTextLines([f"  {name}" for name in get_flattened_names(fetches)]))
        made.append("")
        made.append("Feed dict:")
        for name in map(_description, feed_dict or ()):
            link = RL("  ") + RL(name, MenuItem(None, f"pf '{name}'"))
            made.append(link.text, link.font_attr_segs)
        if not feed_dict:
            made.append("  (Empty)")
    made.append(_HORIZONTAL_BAR)
    made.append("")
    made.append("What comes next? ---->")
    made.extend(_recommend_command("run", "Run, with the tensors dumped", create_link=True))
    made.extend(_recommend_command("run -n", "Run without dumps", create_link=True))
    made.extend(_recommend_command("run -t <T>", "Run T times, the last time with dumps"))
    made.extend(_recommend_command("run -f <filter_name>", "Run until a dumped tensor passes a filter"))
    made.append("    Registered filter(s):")
    for name in tensor_filters:
        link = RL("        * ") + RL(name, [MenuItem("", f"run -f {name}"), "bold"])
        made.append(link.text, link.font_attr_segs)
    if not tensor_filters:
        made.append("        (None)")
    made.append("")
    more = RL("More is told by ") + RL("help", ["bold", MenuItem("", "help")]) + "."
    made.append(more.text, more.font_attr_segs)
    made.append("")
    return made


def get_run_short_description(
    run_call_count: int, fetches: Any, feed_dict: Mapping | None, is_callable_runner: bool = False
) -> str:
    """A run in a line."""
    if is_callable_runner:
        return "runner from make_callable()"
    names = get_flattened_names(fetches)
    text = f"run #{run_call_count}: {len(names)} fetch{'es' if len(names) > 1 else ''}"
    if len(names) == 1 and hasattr(fetches, "name") or len(names) == 1 and isinstance(fetches, (list, tuple)):
        text += f" ({names[0]})"
    fed = list(map(_description, feed_dict or ()))
    text += f"; {len(fed)} feed{'s' if len(fed) != 1 else ''}"
    return text + (f" ({fed[0]})" if len(fed) == 1 else "")


def get_error_intro(tf_error: Any) -> RichTextLines:
    """What stands on the screen after a run that failed: the node, and how to look at it."""
    op = getattr(tf_error, "op", None)
    name = None if op is None else op.name
    made = RichTextLines([_FINE_BAR])
    made.append("!!! The run failed !!!", [(0, 22, "blink")])
    made.append("")
    if name is None:
        made.append("Which node failed isn't known.")
    else:
        made.append("These commands tell more:")
        for command, tells in (
            (f"ni -a -d -t {name}", "The node that failed"),
            (f"li -r {name}", "The tree of its inputs"),
            ("lt", "The tensors that were dumped until then"),
        ):
            made.extend(_recommend_command(command, tells, create_link=True))
    made.append("")
    made.extend(RichTextLines([f"Op name:    {name}", f"Error type: {type(tf_error)}", "", "Details:"]))
    made.extend(RichTextLines(str(tf_error).split("\n")))
    made.extend(RichTextLines(["", _FINE_BAR, ""]))
    return made
