"""What descriptions are made of: texts and tables, with counts and sizes in words."""

from __future__ import annotations

from typing import NamedTuple


class Rows(NamedTuple):
    """A table: the names of its columns, and rows of texts and numbers."""

    header: tuple[str, ...]
    rows: list[tuple]


def table(rows, header):
    """Columns under their names."""
    return Rows(tuple(header), [tuple(row) for row in rows])


def many(count, noun):
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def in_bytes(count):
    for unit in ("bytes", "KB", "MB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"
