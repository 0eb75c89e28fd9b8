"""Screens of tensorflow.python.debug.cli.analyzer_cli about source: which files made nodes, and which line made what."""

from __future__ import annotations

import argparse
from typing import Any

from everflow.legacy.inner.debug import cli_shared
from everflow.legacy.inner.debug import source_lines as source_utils
from everflow.legacy.inner.debug.rich_text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

RL = cli_shared.RL
_COUNTS = ("#(nodes) ", "#(tensors) ", "#(tensor dumps)")
_MORE = 5


class SourceText:
    """Answers about the source of what is in a dump."""

    _debug_dump: Any

    def _source_files(self, parsed: argparse.Namespace) -> RichTextLines:
        found = source_utils.list_source_files_against_dump(
            self._debug_dump,
            path_regex_whitelist=parsed.path_filter,
            node_name_regex_whitelist=parsed.node_name_filter,
        )
        lines = [RL("Files whose lines drew nodes of this run", "bold")]
        if parsed.path_filter:
            lines.append(RL(f'File path regex filter: "{parsed.path_filter}"'))
        if parsed.node_name_filter:
            lines.append(RL(f'Node name regex filter: "{parsed.node_name_filter}"'))
        output = rich_text_lines_from_rich_line_list([*lines, RL()])
        if not found:
            output.append("[No source file information.]")
            return output
        for is_library in (False, True):
            output.extend(self._make_source_table([item for item in found if item[1] == is_library], is_library))
        return output

    def _make_source_table(self, source_list: list[tuple], is_tf_py_library: bool) -> RichTextLines:
        """The files of programs, or those of this package."""
        title = (
            "TensorFlow Python library file(s):" if is_tf_py_library else "File(s) outside TensorFlow Python library:"
        )
        color = cli_shared.COLOR_GRAY if is_tf_py_library else cli_shared.COLOR_WHITE
        lines = [RL(title, color)]
        head = "Source file path"
        width = max(map(len, [head, *(item[0] for item in source_list)])) + 1
        if source_list:
            line = RL(head.ljust(width), color)
            for count in _COUNTS:
                line += RL(count, color)
            lines.append(line)
        else:
            lines.append(RL("[No files.]"))
        for path, _, *counts, first in source_list:
            line = RL(path, [color, MenuItem("", f"ps {path} -b {first}")]) + " " * (width - len(path))
            for count, over in zip(counts, _COUNTS, strict=True):
                line += RL(str(count).ljust(len(over) if over.endswith(" ") else 0), color)
            lines.append(line)
        return rich_text_lines_from_rich_line_list([*lines, RL()])

    def _source_lines(self, parsed: argparse.Namespace) -> RichTextLines:
        made_by = source_utils.annotate_source(
            self._debug_dump, parsed.source_file_path, do_dumped_tensors=parsed.tensors
        )
        source, width = source_utils.load_source(parsed.source_file_path)
        lines, first = [], 0
        for number, text in enumerate(source, 1):
            if number == parsed.line_begin:
                first = len(lines)
            label = f"L{number}"
            lines.append(RL(label, cli_shared.COLOR_YELLOW) + " " * (width - len(label)) + text)
            elements = sorted(made_by.get(number, ()))
            lines += [RL("    ") + self._element(one) for one in elements[: parsed.max_elements_per_line]]
            omitted = len(elements) - parsed.max_elements_per_line
            if omitted > 0:
                kind = "tensor" if parsed.tensors else "op"
                line = RL(f"    (... Omitted {omitted} of {len(elements)} {kind}(s) ...) ")
                command = self._reconstruct_print_source_command(parsed, number, max_elements_per_line_increase=_MORE)
                lines.append(line + RL(f"+{_MORE}", MenuItem("", command)))
        return rich_text_lines_from_rich_line_list(lines, annotations={INIT_SCROLL_POS_KEY: first})

    def _element(self, name: str) -> Any:
        """A node or tensor, with the command that prints it where it was dumped."""
        dumped = ":" in name or self._debug_dump.debug_watch_keys(name)
        return RL(name, MenuItem("", f"pt {name}") if dumped else cli_shared.COLOR_BLUE)

    def _reconstruct_print_source_command(
        self, parsed: argparse.Namespace, line_begin: int, max_elements_per_line_increase: int = 0
    ) -> str:
        most = parsed.max_elements_per_line + max_elements_per_line_increase
        return f"ps {parsed.source_file_path} {'-t' if parsed.tensors else ''} -b {line_begin} -m {most}"
