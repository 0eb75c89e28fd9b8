"""Text with colours, of tensorflow.python.debug.cli.debugger_cli_common: lines, and what is to be seen where in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

from everflow.platform import gfile

# Under this name of an annotation are the lines that a search found.
REGEX_MATCH_LINES_KEY = "regex_match_lines"
# Under this one the line to show first, and under that a menu.
INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"

_Segments = list[tuple[int, int, Any]]


class RichLine:
    """A line, with attributes for parts of it. Lines and strings can be added."""

    def __init__(self, text: str = "", font_attr: Any = None) -> None:
        self.text = text
        self.font_attr_segs: _Segments = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other: RichLine | str) -> RichLine:
        if not isinstance(other, (RichLine, str)):
            raise TypeError(f"A line can be added to a line or a string, not to {other!r}")
        made = RichLine(self.text + (other if isinstance(other, str) else other.text))
        made.font_attr_segs = list(self.font_attr_segs)
        for start, end, attr in [] if isinstance(other, str) else other.font_attr_segs:
            made.font_attr_segs.append((start + len(self.text), end + len(self.text), attr))
        return made

    def __len__(self) -> int:
        return len(self.text)


class RichTextLines:
    """Lines; by line (start, end, attribute) of parts of them; and annotations, by line or by any other name."""

    def __init__(
        self,
        lines: str | list[str],
        font_attr_segs: dict[int, _Segments] | None = None,
        annotations: dict | None = None,
    ) -> None:
        if not isinstance(lines, (str, list)):
            raise ValueError(f"lines must be a string or a list, not a {type(lines).__name__}")
        self._lines = [lines] if isinstance(lines, str) else lines
        self._font_attr_segs = font_attr_segs if font_attr_segs else {}
        self._annotations = annotations if annotations else {}

    lines = property(lambda self: self._lines)
    font_attr_segs = property(lambda self: self._font_attr_segs)
    annotations = property(lambda self: self._annotations)

    def num_lines(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """Some of the lines, numbered anew; annotations that are of no line stay."""
        if begin < 0 or end < 0:
            raise ValueError(f"Lines are counted from 0, not from {begin} to {end}")
        return RichTextLines(
            self._lines[begin:end],
            {line - begin: segments for line, segments in self._font_attr_segs.items() if begin <= line < end},
            {
                key - begin if isinstance(key, int) else key: value
                for key, value in self._annotations.items()
                if not isinstance(key, int) or begin <= key < end
            },
        )

    def extend(self, other: RichTextLines) -> None:
        """Put other lines behind these."""
        self._take(other, self.num_lines())
        self._lines.extend(other.lines)

    def _extend_before(self, other: RichTextLines) -> None:
        """Put other lines before these."""
        self._move(other.num_lines())
        self._take(other, 0)
        self._lines[:0] = other.lines

    def _take(self, other: RichTextLines, offset: int) -> None:
        self._font_attr_segs.update((line + offset, segments) for line, segments in other.font_attr_segs.items())
        for key, value in other.annotations.items():
            self._annotations[key + offset if isinstance(key, int) else key] = value

    def _move(self, offset: int) -> None:
        self._font_attr_segs = {line + offset: segments for line, segments in self._font_attr_segs.items()}
        moved = self._annotations.items()
        self._annotations = {key + offset if isinstance(key, int) else key: value for key, value in moved}

    def append(self, line: str, font_attr_segs: _Segments | None = None) -> None:
        """Put a line behind these."""
        self._lines.append(line)
        if font_attr_segs:
            self._font_attr_segs[len(self._lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line: RichLine) -> None:
        """Put a line with its attributes behind these."""
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: str, font_attr_segs: _Segments | None = None) -> None:
        """Put a line before these."""
        self._extend_before(RichTextLines([line], {0: font_attr_segs} if font_attr_segs else None))

    def write_to_file(self, file_path: str) -> None:
        """Write the text, without attributes."""
        with gfile.Open(file_path, "w") as file:
            for line in self._lines:
                file.write(line + "\n")


def rich_text_lines_from_rich_line_list(
    rich_text_list: Iterable[RichLine | str], annotations: dict | None = None
) -> RichTextLines:
    """Lines of a list of strings and lines with attributes."""
    made = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        made.append_rich_line(line if isinstance(line, RichLine) else RichLine(line))
    return made


def regex_find(orig_screen_output: RichTextLines, regex: str, font_attr: Any) -> RichTextLines:
    """The lines with an attribute on all that a pattern matches; an annotation has the numbers of their lines."""
    try:
        pattern = re.compile(regex)
    except re.error as error:
        raise ValueError(f"Not a regular expression: {regex!r}: {error}") from None
    found = RichTextLines(
        orig_screen_output.lines, dict(orig_screen_output.font_attr_segs), dict(orig_screen_output.annotations)
    )
    matched = []
    for number, line in enumerate(found.lines):
        spots = [(*match.span(), font_attr) for match in pattern.finditer(line)]
        if spots:
            matched.append(number)
            known = found.font_attr_segs.get(number, [])
            found.font_attr_segs[number] = sorted([*known, *spots], key=lambda segment: segment[0])
    found.annotations[REGEX_MATCH_LINES_KEY] = matched
    return found


def wrap_rich_text_lines(inp: RichTextLines, cols: int) -> tuple[RichTextLines, list[int]]:
    """(lines of so many columns at most, which of them each of the lines before begins with)."""
    if not isinstance(inp, RichTextLines):
        raise ValueError(f"RichTextLines are wanted, not a {type(inp).__name__}")
    if not isinstance(cols, int):
        raise ValueError(f"The number of columns must be an int, not a {type(cols).__name__}")
    made, first = RichTextLines([]), []
    for number, line in enumerate(inp.lines):
        first.append(made.num_lines())
        if number in inp.annotations:
            made.annotations[made.num_lines()] = inp.annotations[number]
        segments = inp.font_attr_segs.get(number, [])
        for start in itertools.count(0, max(cols, 1)):
            if start and start >= len(line):
                break
            inside = [
                (max(a, start) - start, min(b, start + cols) - start, attr)
                for a, b, attr in segments
                if a < start + cols and b > start
            ]
            made.append(line[start : start + cols], inside)
    made.annotations.update((key, value) for key, value in inp.annotations.items() if not isinstance(key, int))
    return made, first


class MenuItem:
    """An entry of a menu: what is read, and the command behind it."""

    def __init__(self, caption: str, content: str, enabled: bool = True) -> None:
        self._caption, self._content, self._enabled = caption, content, enabled

    caption = property(lambda self: self._caption)
    content = property(lambda self: self._content)

    def is_enabled(self) -> bool:
        """Whether it can be chosen."""
        return self._enabled

    def enable(self) -> None:
        """Let it be chosen."""
        self._enabled = True

    def disable(self) -> None:
        """Don't let it be chosen."""
        self._enabled = False


class Menu:
    """Entries in a row."""

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._items: list[MenuItem] = []

    def append(self, item: MenuItem) -> None:
        """Put an entry at the end."""
        self._items.append(item)

    def insert(self, index: int, item: MenuItem) -> None:
        """Put an entry before another."""
        self._items.insert(index, item)

    def num_items(self) -> int:
        """How many entries there are."""
        return len(self._items)

    def captions(self) -> list[str]:
        """What is read."""
        return [item.caption for item in self._items]

    def caption_to_item(self, caption: str) -> MenuItem:
        """The entry of a caption."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f"The menu has no entry {caption!r}")

    def format_as_single_line(
        self,
        prefix: str | None = None,
        divider: str = " | ",
        enabled_item_attrs: Any = None,
        disabled_item_attrs: Any = None,
    ) -> RichTextLines:
        """The menu as a line; the attributes of an entry that can be chosen begin with the entry."""
        line, segments = prefix or "", []
        for item in self._items:
            wanted = enabled_item_attrs if item.is_enabled() else disabled_item_attrs
            attrs = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted] if wanted else []
            attrs = [item, *attrs] if item.is_enabled() else attrs
            if attrs:
                segments.append((len(line), len(line) + len(item.caption), attrs))
            line += item.caption + divider
        return RichTextLines(line, font_attr_segs={0: segments})
