"""tensorflow.python.debug.cli.tensor_format: arrays as lines of text that know where each element stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from everflow.debug import tensor_text
from everflow.debug.dumps import InconvertibleTensorProto
from everflow.legacy.inner.debug.rich_text import RichTextLines

BEGIN_INDICES_KEY = "i0"
OMITTED_INDICES_KEY = "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"
_OMISSION = "...,"
_ELEMENT = re.compile(r"[^\s,\[\]]+")
_BEFORE = len("array(")


class HighlightOptions(NamedTuple):
    """Which elements to show otherwise: those that a function of the array says, in words, and how."""

    criterion: Callable[[np.ndarray], np.ndarray]
    description: str | None = None
    font_attr: str = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR


def format_tensor(
    tensor: Any,
    tensor_label: str | None,
    include_metadata: bool = False,
    auxiliary_message: RichTextLines | None = None,
    include_numeric_summary: bool = False,
    np_printoptions: Mapping[str, Any] | None = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:
    """The lines of an array. Annotations have its type and shape, and for each line the place of its first element."""
    made = RichTextLines([])
    is_array = isinstance(tensor, np.ndarray)
    if tensor_label is not None:
        made.append(f'Tensor "{tensor_label}":', _in_label(tensor_label) if is_array else None)
    if not is_array:
        made.append("")
        made.extend(_text_of(tensor))
        return made
    if include_metadata:
        made.append(f"  dtype: {tensor.dtype}")
        made.append(f"  shape: {tensor.shape}")
    if include_metadata or tensor_label is not None:
        made.append("")
    if auxiliary_message is not None:
        made.extend(auxiliary_message)
    if include_numeric_summary:
        made.append("Numeric summary:")
        made.extend(numeric_summary(tensor))
        made.append("")
    with np.printoptions(**(np_printoptions or {})):
        lines, edge = repr(tensor).split("\n"), np.get_printoptions()["edgeitems"]
    first = made.num_lines()
    if tensor.dtype.kind in "?biufcO":
        made.annotations["tensor_metadata"] = {"dtype": tensor.dtype, "shape": tensor.shape}
        places = _places(lines, tensor.shape, edge)
        made.annotations.update({first + row: place for row, place in places.items()})
    body = RichTextLines(lines)
    if highlight_options is not None and "tensor_metadata" in made.annotations and tensor.ndim:
        chosen = highlight_options.criterion(tensor)
        body.font_attr_segs.update(_highlighted(lines, places, chosen, highlight_options.font_attr))
        words = "Highlighted" + (f"({highlight_options.description})" if highlight_options.description else "")
        count = f"{words}: {chosen.sum()} of {chosen.size} element(s) ({chosen.mean():.2%})"
        if tensor_label is not None:
            made.lines[0] += " " + count
    made.extend(body)
    return made


def _in_label(label: str) -> list[tuple[int, int, str]]:
    """What of a label stands out: the tensor, and after its last colon what was computed of it."""
    begin, cut = len('Tensor "'), label.rfind(":")
    if label.count(":") == 1 and label[cut + 1 :].isdigit():
        return [(begin, begin + len(label), "bold")]
    return [(begin, begin + cut, "bold"), (begin + cut + 1, begin + len(label), "yellow")]


def _text_of(value: Any) -> RichTextLines:
    return RichTextLines((str(value) if isinstance(value, InconvertibleTensorProto) else repr(value)).split("\n"))


def _elements(line: str, row: int) -> list[re.Match]:
    """The elements in a line of an array's text, as far as none is left out."""
    until = line.rfind("]") if "]" in line else len(line)
    until = line.find("...", 0, until) if "..." in line[:until] else until
    return list(_ELEMENT.finditer(line, 0 if row else _BEFORE, until))


def _places(lines: Sequence[str], shape: tuple[int, ...], edge: int) -> dict[int, dict[str, list[int]]]:
    """{line: the place of its first element, or of the first that is left out there}"""
    found: dict[int, dict[str, list[int]]] = {}
    place = [0] * len(shape)
    for row, line in enumerate(lines if shape else ()):
        if not line.strip():
            continue
        if line.strip() == _OMISSION and len(shape) > 1:
            found[row] = {OMITTED_INDICES_KEY: list(place)}
            dimension = len(line) - len(line.lstrip()) - _BEFORE - 1
            place[dimension] = shape[dimension] - edge
            continue
        found[row] = {BEGIN_INDICES_KEY: list(place)}
        shown = line[: line.rfind("]") + 1] if "]" in line else line
        place[-1] += len(_elements(line, row))
        if "..." in shown:
            place[-1] = shape[-1] - edge + len(_ELEMENT.findall(shown[shown.find("...") + 3 :]))
        closed = len(shown) - len(shown.rstrip("]"))
        if 0 < closed < len(shape):
            place[-1 - closed] += 1
            place[-closed:] = [0] * closed
    return found


def _highlighted(lines, places, chosen, font_attr) -> dict[int, list[tuple[int, int, str]]]:
    made: dict[int, list[tuple[int, int, str]]] = {}
    for row, place in places.items():
        begin = place.get(BEGIN_INDICES_KEY)
        for offset, element in enumerate(_elements(lines[row], row) if begin else ()):
            if chosen[(*begin[:-1], begin[-1] + offset)]:
                made.setdefault(row, []).append((*element.span(), font_attr))
    return made


def locate_tensor_element(formatted: RichTextLines, indices: Any) -> tuple:
    """(whether it is left out, line, column where it begins, and where it ends) of an element; of several, which must be in
    the array's order, four lists. Columns are None where a line leaves the element out.
    """
    several = isinstance(indices[0], (list, tuple, np.ndarray))
    if "tensor_metadata" not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    shape = formatted.annotations["tensor_metadata"]["shape"]
    wanted = [list(given) for given in indices] if several else [list(indices)]
    _check(wanted, shape)
    rows = sorted(row for row in formatted.annotations if isinstance(row, int))
    found = [_located(formatted, rows, given, shape) for given in wanted]
    return tuple(map(list, zip(*found))) if several else found[0]


def _check(wanted: list[list[int]], shape: tuple[int, ...]) -> None:
    for before, given in zip([None, *wanted], wanted, strict=False):
        if len(given) != len(shape):
            raise ValueError(f"Dimensions mismatch: requested: {len(given)}; actual: {len(shape)}")
        if any(index < 0 for index in given):
            raise ValueError(f"{given} contains negative indices")
        if any(index >= size for index, size in zip(given, shape, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if before is not None and given < before:
            raise ValueError(f"indices have to be in ascending order: {given} comes after {before}")


def _located(formatted, rows, given, shape) -> tuple[bool, int, int | None, int | None]:
    def place_of(row):
        return next(iter(formatted.annotations[row].values()))

    row = [row for row in rows if place_of(row) <= given][-1]
    if OMITTED_INDICES_KEY in formatted.annotations[row]:
        return True, row, None, None
    elements = _elements(formatted.lines[row], int(row != rows[0]))
    offset = given[-1] - place_of(row)[-1]
    return (False, row, *(elements[offset].span() if offset < len(elements) else (None, None)))


def numeric_summary(tensor: Any) -> RichTextLines:
    """How many elements are of which kind; least, greatest, mean and deviation of those that are numbers."""
    if not isinstance(tensor, np.ndarray):
        return RichTextLines([f"No numeric summary: {type(tensor).__name__} is no array."])
    return RichTextLines(tensor_text.numeric_summary(tensor))
