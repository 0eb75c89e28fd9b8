"""tensorflow.python.debug.cli.command_parser: what a line typed to the debugger says."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

# A word of a line: what is in brackets or quotes belongs together.
_WORD = re.compile(r"""(?:\[[^\]]*\]|"[^"]*"|'[^']*'|\S)+""")
_SLICES = re.compile(r"\[[\d:,\s]+\]")
_NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_BYTES = {"": 1, "B": 1, "k": 1024, "kB": 1024, "M": 1024**2, "MB": 1024**2, "G": 1024**3, "GB": 1024**3}
_MICROSECONDS = {"": 1, "us": 1, "ms": 1_000, "s": 1_000_000}


@dataclass(eq=True)
class Interval:
    """What lies between two ends, which may belong to it."""

    start: Any
    start_included: bool
    end: Any
    end_included: bool

    def contains(self, value: Any) -> bool:
        """Whether a value lies in it."""
        after = value > self.start or (self.start_included and value == self.start)
        return after and (value < self.end or (self.end_included and value == self.end))


def parse_command(command: str) -> list[str]:
    """The words of a line. What is in quotes or brackets is one word; quotes around a whole word go."""
    return [_unquoted(match[0]) for match in _WORD.finditer(command.strip())]


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] in "\"'" and word[-1] == word[0] else word


def extract_output_file_path(args: list[str]) -> tuple[list[str], str | None]:
    """(the words before it, the file) where a line ends in `> file`; the file is None where it doesn't."""
    if args and args[-1].endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if not args:
        return args, None
    last = args[-1]
    before = args[-2] if len(args) > 1 else ""
    # What follows a flag is its value, as in `-m >100kB`.
    is_value = before.startswith("-") and ">" not in before
    if last.startswith(">") and last.count(">") == 1 and not is_value:
        return args[:-1], last[1:]
    if before.endswith(">") and before.count(">") == 1 and ">" not in last:
        return args[:-2] + ([before[:-1]] if before != ">" else []), last
    if last.count(">") == 1 and not last.startswith((">", "-")):
        word, _, file = last.partition(">")
        return [*args[:-1], word], file
    return args, None


def parse_tensor_name_with_slicing(in_str: str) -> tuple[str, str]:
    """(name, slices) of text such as `weights:0[1, :]`; no slices are ""."""
    if in_str.count("[") == 1 and in_str.endswith("]"):
        name, _, slices = in_str.partition("[")
        return name, f"[{slices}"
    return in_str, ""


def validate_slicing_string(slicing_string: str) -> bool:
    """Whether text can stand for slices."""
    return _SLICES.fullmatch(slicing_string) is not None


def _parse_slices(slicing_string: str) -> tuple[Any, ...]:
    parsed: list[Any] = []
    for part in slicing_string[1:-1].split(","):
        ends = [int(end) if end.strip() else None for end in part.split(":")]
        parsed.append(ends[0] if len(ends) == 1 else slice(*ends))
    return tuple(parsed)


def evaluate_tensor_slice(tensor: np.ndarray, tensor_slicing: str) -> np.ndarray:
    """A part of an array, as slices in text say."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError(f"These are no slices: {tensor_slicing!r}")
    return tensor[_parse_slices(tensor_slicing)]


def parse_indices(indices_string: str) -> list[int]:
    """Whole numbers of text such as `[1, 2]`, with brackets or without."""
    text = indices_string.replace(" ", "").removeprefix("[").removesuffix("]")
    return [int(part) for part in text.split(",")]


def parse_ranges(range_string: str) -> list[list[float]]:
    """Pairs of numbers, of text such as `[[0, 1], [5, inf]]` or `[0, 1]`."""
    text = range_string.strip()
    if not text:
        return []
    most = repr(sys.float_info.max)
    if "inf" in text:
        text = text.replace("inf", most)
    ranges = ast.literal_eval(text)
    if not isinstance(ranges, list):
        raise TypeError(f"Ranges are a pair of numbers or a list of such pairs, not {range_string!r}")
    pairs = ranges if isinstance(ranges[0], list) else [ranges]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"A range has two ends: {pair}")
        if not all(isinstance(end, (int, float)) for end in pair):
            raise ValueError(f"The ends of a range are numbers: {pair}")
    return pairs


def _measured(text: str, units: dict[str, int], what: str) -> int:
    """How much a number with a unit is."""
    found = re.fullmatch(rf"({_NUMBER})\s*([A-Za-z]*)", text.strip())
    if found is None or found[2] not in units:
        raise ValueError(f"{text!r} is no {what}: it must be a number with a unit of {', '.join(filter(None, units))}")
    amount = float(found[1]) * units[found[2]]
    if amount < 0:
        raise ValueError(f"A {what} can't be less than nothing: {text!r}")
    return int(amount)


def parse_readable_size_str(size_str: str) -> int:
    """How many bytes `3kB` and the like are."""
    return _measured(size_str, _BYTES, "size")


def parse_readable_time_str(time_str: str) -> int:
    """How many microseconds `3ms` and the like are."""
    return _measured(time_str, _MICROSECONDS, "time")


def parse_time_interval(interval_str: str) -> Interval:
    """Times between two, as `[1ms, 2s)`, or before or after one, as `>=5us`."""
    return _interval_of(interval_str, parse_readable_time_str)


def parse_memory_interval(interval_str: str) -> Interval:
    """Sizes between two, as `[1kB, 2MB)`, or below or above one, as `>=5k`."""
    return _interval_of(interval_str, parse_readable_size_str)


def _interval_of(text: str, amount_of: Any) -> Interval:
    found = _parse_interval(text)
    found.start = 0 if found.start is None else amount_of(found.start)
    found.end = float("inf") if found.end is None else amount_of(found.end)
    if found.start > found.end:
        raise ValueError(f"The interval ends before it starts: {text!r}")
    return found


def _parse_interval(interval_str: str) -> Interval:
    """An interval whose ends are text; None where it has none."""
    text = interval_str.strip()
    amount = rf"{_NUMBER}\s*[A-Za-z]*"
    if one := re.fullmatch(rf"([<>])(=?)\s*({amount})", text):
        side, equal, end = one.groups()
        if side == "<":
            return Interval(None, False, end.strip(), bool(equal))
        return Interval(end.strip(), bool(equal), None, False)
    if two := re.fullmatch(rf"([\[(])\s*({amount})\s*,\s*({amount})\s*([\])])", text):
        first, start, end, last = two.groups()
        return Interval(start.strip(), first == "[", end.strip(), last == "]")
    raise ValueError(f"{interval_str!r} is no interval: write [a, b], (a, b), <a, <=a, >a or >=a")


def get_print_tensor_argparser(description: str) -> argparse.ArgumentParser:
    """What takes the arguments of `print_tensor`."""
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    parser.add_argument("tensor_name", type=str, help="which tensor, perhaps with slices: weights:0[1, :]")
    parser.add_argument("-n", "--number", type=int, default=-1, help="which of its dumps, counted from 0")
    parser.add_argument(
        "-r", "--ranges", type=str, default="", help="values to highlight: [0, 1] or [[0, 1], [5, inf]]"
    )
    parser.add_argument("-a", "--all", dest="print_all", action="store_true", help="print all of it")
    parser.add_argument("-s", "--numeric_summary", action="store_true", help="sum its values up")
    parser.add_argument("-w", "--write_path", type=str, default="", help="write it to a numpy file")
    return parser
