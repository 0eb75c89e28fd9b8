"""Tensors as text for the debugger's terminal: their type and shape, a numeric summary, and the elements."""

from __future__ import annotations

import ast
import os

import numpy as np

from everflow.debug.dumps import InconvertibleTensorProto


def numeric_summary(array):
    """Two small tables: how many elements are of which kind, and their least, greatest, mean and deviation."""
    if not array.size:
        return ["No numeric summary: the tensor is empty."]
    if array.dtype == bool:
        counts = {"False": int((~array).sum()), "True": int(array.sum())}
        return _counted(counts, array.size)
    if array.dtype.kind not in "iufc":
        return [f"No summary of numbers: the tensor is of {array.dtype}."]
    values = array.ravel()
    finite = values[np.isfinite(values)]
    kinds = {"nan": np.isnan(values)}
    if array.dtype.kind != "c":
        kinds |= {"-inf": np.isneginf(values), "-": np.isfinite(values) & (values < 0), "0": values == 0}
        kinds |= {"+": np.isfinite(values) & (values > 0), "+inf": np.isposinf(values)}
    lines = _counted({kind: int(chosen.sum()) for kind, chosen in kinds.items() if chosen.any()}, array.size)
    if finite.size:
        found = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std()}
        lines += _rows({name: str(value) for name, value in found.items()})
    return lines


def _counted(counts, total):
    """The counts, and the total in a column of its own."""
    width = max(len(str(total)), len("total"))
    ends = [f" {'total':>{width}} |", f" {total:>{width}} |"]
    if not counts:
        return ["|" + end for end in ends]
    return [
        row + end for row, end in zip(_rows({name: str(count) for name, count in counts.items()}), ends, strict=True)
    ]


def _rows(cells):
    width = max(len(text) for pair in cells.items() for text in pair)
    return ["| " + " ".join(f"{text:>{width}}" for text in row) + " |" for row in (cells.keys(), cells.values())]


def show(name, value, summary=False, whole=False, ranges=None, write_path=None):
    """The lines that show a tensor under a name. Elements within `ranges`, written as "[low, high]", are counted."""
    if isinstance(value, InconvertibleTensorProto):
        return [f'Tensor "{name}":', "", str(value) or "(no array)"]
    if not isinstance(value, np.ndarray):
        return [f'Tensor "{name}":', "", str(value)]
    lines = [
        f'Tensor "{name}":' + (_highlighted(value, ranges) if ranges else ""),
        f"  dtype: {value.dtype}",
        f"  shape: {value.shape}",
        "",
    ]
    if write_path:
        np.save(write_path, value)
        written = write_path if write_path.endswith(".npy") else write_path + ".npy"
        lines += [f"Saved value to: {written} ({os.path.getsize(written)}B)", ""]
    if summary:
        lines += ["Numeric summary:", *numeric_summary(value), ""]
    with np.printoptions(threshold=value.size + 1 if whole else 1000):
        return [*lines, *repr(value).splitlines()]


def _highlighted(value, text):
    given = ast.literal_eval(text.replace("inf", "1e999"))
    ranges = given if given and isinstance(given[0], list | tuple) else [given]
    inside = np.zeros(value.shape, bool)
    for low, high in ranges:
        inside |= (value >= low) & (value <= high)
    return f" Highlighted({text}): {inside.sum()} of {value.size} element(s) ({100 * inside.mean():.2f}%)"
