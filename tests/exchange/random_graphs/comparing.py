"""Whether two sides show the same for a program; words on the first difference otherwise."""

from __future__ import annotations

import math
import re

RELATIVE, ABSOLUTE = 2e-5, 2e-6


# What is counted over the life of a process, or is drawn by chance, says nothing about a graph: numbers of functions, names
# of iterators' datasets, folders, the order of the devices in a configuration.
_BY_CHANCE = [
    (re.compile(pattern), word)
    for pattern, word in {
        r"_make_dataset_\w+": "_make_dataset",
        r"pyfunc_\d+": "pyfunc",
        r"_temp_[0-9a-f]{32}": "_temp",
        r"_?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": "_UUID",
        r"/tmp/[\w/.]+": "FOLDER",
        r"0x[0-9a-f]{6,}": "ADDRESS",
        r"(__inference_[\w<>]+?|__forward_[\w<>]+?|_true|_false|_cond|_body|_rewritten|_grad)_(\d+|N)": r"\1_N",
        r'_gradient_op_type=s: "PartitionedCall-\d+" ': "",
        r'config_proto=s: "[^"]*"': "config_proto",
    }.items()
]


def _without_chance(text: str) -> str:
    for pattern, word in _BY_CHANCE:
        text = pattern.sub(word, text)
    return text


def difference(theirs: dict, ours: dict) -> tuple[str, str] | None:
    """What differs ("errors", "nodes" or "values") and how, or None."""
    if words := _errors_differ(theirs["errors"], ours["errors"]):
        return "errors", words
    if words := _nodes_differ(theirs["nodes"], ours["nodes"]):
        return "nodes", words
    for key, value in theirs["values"].items():
        if words := _values_differ(value, ours["values"].get(key, "nothing")):
            return "values", f"{key}: {words}"
    return None


def _errors_differ(theirs, ours):
    if theirs == ours:
        return None
    other = dict(map(tuple, ours))
    for line, kind in theirs:
        if other.get(line) != kind:
            return f"{line}\n  TensorFlow {kind}, ours {other.get(line, 'none')}"
    line, kind = next((line, kind) for line, kind in ours if [line, kind] not in theirs)
    return f"{line}\n  TensorFlow none, ours {kind}"


def _nodes_differ(theirs, ours):
    if any(" VarIsInitializedOp " in node for node in theirs):
        # Keras asks for its variables in the order of a set.
        theirs, ours = (sorted(re.sub(r" VarIsInitializedOp .*", "", n) for n in nodes) for nodes in (theirs, ours))
    for i, (one, other) in enumerate(zip(theirs, ours)):
        if one != other and (one := _without_chance(one)) != (other := _without_chance(other)):
            at = next((k for k, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
            start = 0 if at < 300 else at - 120
            return f"node {i} of {len(theirs)}/{len(ours)}\n  {one[start : at + 160]}\n  {other[start : at + 160]}"
    if len(theirs) != len(ours):
        longer = max(theirs, ours, key=len)
        return f"{len(theirs)} nodes, ours {len(ours)}; the first more: {longer[min(len(theirs), len(ours))][:200]}"
    return None


def _values_differ(theirs, ours):
    if isinstance(theirs, dict) and "numbers" in theirs and isinstance(ours, dict) and "numbers" in ours:
        if (theirs["dtype"], theirs["shape"]) != (ours["dtype"], ours["shape"]):
            return f"{theirs['dtype']}{theirs['shape']}, ours {ours['dtype']}{ours['shape']}"
        pairs = zip(theirs["numbers"], ours["numbers"])
        floats = theirs["dtype"].startswith("float")
        worst = [(a, b) for a, b in pairs if not _same(a, b, floats or _is_fraction(a))]
        return (
            f"{len(worst)} of {len(theirs['numbers'])}, the first {worst[0][0]}, ours {worst[0][1]}" if worst else None
        )
    if type(theirs) is not type(ours):
        return f"{theirs!r:.150}, ours {ours!r:.150}"
    if isinstance(theirs, list):
        if len(theirs) != len(ours):
            return f"{len(theirs)} items, ours {len(ours)}"
        return next((words for a, b in zip(theirs, ours) if (words := _values_differ(a, b))), None)
    if isinstance(theirs, dict):
        if set(theirs) != set(ours):
            return f"{theirs!r:.150}, ours {ours!r:.150}"
        return next((words for k in theirs if (words := _values_differ(theirs[k], ours[k]))), None)
    return None if theirs == ours or _same(theirs, ours, True) else f"{theirs!r:.150}, ours {ours!r:.150}"


def _is_fraction(text):
    """Whether a text is a fraction, which `as_string` made of a float: its last digit and the sign of NaN are open."""
    return re.fullmatch(r"-?(\d+\.\d+(e[-+]\d+)?|nan)", str(text)) is not None


def _same(one, other, floats):
    if one == other:
        return True
    try:
        a, b = float(one), float(other)
    except (TypeError, ValueError):
        return False
    return floats and (math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (math.isnan(a) and math.isnan(b)))
