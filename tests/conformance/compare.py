"""Comparing what a case showed with what TensorFlow 1.15.5 showed: four verdicts for each case.

`value`: every value, shape and exception type agrees. `graph`: the graphs have the same nodes in the same order (name,
op, inputs, device). `attrs`: those nodes have the same attributes too. `seeded`: what depends on TensorFlow's random
generator agrees.
"""

from __future__ import annotations

import math

import numpy as np

from tests.conformance.records import DEFAULT_TOLERANCE, decode_array

KINDS = ("value", "graph", "attrs", "seeded")
_LOW_PRECISION = {"float16": 4e-3, "bfloat16": 2e-2}


def differs(want, got, rtol, atol, path="") -> str | None:
    """None where two encoded values agree, else a few words on the first difference."""
    if isinstance(want, dict) and "dtype" in want:
        return _arrays_differ(want, got, rtol, atol, path)
    if type(want) is not type(got):
        return f"{path}: {got!r:.80}, wanted {want!r:.80}"
    if isinstance(want, dict) and "py" in want and "py" in got:
        return _numbers_differ(want, got, rtol, atol, path)
    if isinstance(want, dict):
        if set(want) != set(got):
            return f"{path}: {got!r:.80}, wanted {want!r:.80}"
        pairs = [(want[k], got[k], path if k in ("list", "dict", "items") else f"{path}.{k}") for k in want]
    elif isinstance(want, list):
        if len(want) != len(got):
            return f"{path}: {len(got)} items, wanted {len(want)}"
        pairs = [(w, g, f"{path}[{i}]") for i, (w, g) in enumerate(zip(want, got, strict=True))]
    else:
        return None if want == got else f"{path}: {got!r:.80}, wanted {want!r:.80}"
    return next((found for w, g, p in pairs if (found := differs(w, g, rtol, atol, p))), None)


def _arrays_differ(want, got, rtol, atol, path):
    if not (isinstance(got, dict) and "dtype" in got):
        return f"{path}: wanted an array, got {got!r:.80}"
    for part in ("dtype", "shape"):
        if want[part] != got[part]:
            return f"{path}: {part} {got[part]}, wanted {want[part]}"
    a, b = decode_array(want), decode_array(got)
    if a.dtype.kind in "fc":
        low = _LOW_PRECISION.get(want["dtype"], 0)
        same = np.isclose(b, a, rtol=max(rtol, low), atol=max(atol, low), equal_nan=True)
    else:
        same = np.asarray(a == b)
    if same.all():
        return None
    at = tuple(np.argwhere(~same)[0].tolist())
    return f"{path}: {(~same).sum()} of {same.size} differ, first at {list(at)}: {b[at]!r:.60}, wanted {a[at]!r:.60}"


def _numbers_differ(want, got, rtol, atol, path):
    if want == got:
        return None
    if "float" in (want["py"], got["py"]):
        a, b = float(want["value"]), float(got["value"])
        if (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=rtol, abs_tol=atol):
            return None
    return f"{path}: {got['value']}, wanted {want['value']}"


def nodes_differ(want, got) -> str | None:
    """Words on the first node that differs in name, op, inputs or device."""
    for i, node in enumerate(want):
        if i >= len(got):
            return f"stops after {len(got)} nodes of {len(want)}; next wanted {node[0]} ({node[1]})"
        if node[:4] != got[i][:4]:
            return f"node {i} is {got[i][:4]}, wanted {node[:4]}"
    return f"goes on after {len(want)} nodes with {got[len(want)][:3]}" if len(got) > len(want) else None


def attributes_differ(want, got) -> str | None:
    """Words on the first node that differs in attributes."""
    for (name, op, *_, ours), (*_, theirs) in zip(want, got, strict=True):
        if ours != theirs:
            keys = [k for k in sorted({*ours, *theirs}) if ours.get(k) != theirs.get(k)]
            return f"{name} ({op}): " + ", ".join(f"{k} is {theirs.get(k)}, wanted {ours.get(k)}" for k in keys[:3])
    return None


def judge(golden, records, error) -> dict[str, list[str]]:
    """{kind: words on each record that falls short}, for kinds with any."""
    short: dict[str, list[str]] = {}

    def fell_short(kind, name, words):
        short.setdefault(kind, []).append(f"{name}: {words}")

    for name, want in golden.items():
        kind = "value" if want["kind"] == "error" else want["kind"]
        got = records.get(name)
        if got is None:
            for each in ("graph", "attrs") if kind == "graph" else (kind,):
                fell_short(each, name, "not reached")
        elif kind == "graph":
            if words := nodes_differ(want["value"], got["value"]):
                fell_short("graph", name, words)
                fell_short("attrs", name, "nodes differ")
            elif words := attributes_differ(want["value"], got["value"]):
                fell_short("attrs", name, words)
        elif want["kind"] == "error":
            if got["value"] != want["value"]:
                fell_short(kind, name, f"raised {got['value']}, wanted {want['value']}")
        elif words := differs(want["value"], got["value"], *want.get("tol", DEFAULT_TOLERANCE)):
            fell_short(kind, name, words.lstrip(": ."))
    if error:
        fell_short("value", "the case itself", error)
    return short


def kinds_of(golden) -> set[str]:
    """The verdicts that a golden allows."""
    kinds = {"value" if record["kind"] == "error" else record["kind"] for record in golden.values()} | {"value"}
    return kinds | {"attrs"} if "graph" in kinds else kinds
