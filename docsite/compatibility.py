"""The page that says, for every public name and op type of TensorFlow 1.15, whether it is there, differs or is missing,
and why. It is made from the package when the site is built; only reasons are written down (`reasons.py`).
"""

from __future__ import annotations

import collections
import fnmatch
import functools
import json
import pathlib

import everflow as tf
from docsite import reasons
from everflow.framework import api_names
from everflow.framework.api_names import MISSING_CONTRIB
from everflow.kernels import registry

FRAMEWORK = pathlib.Path(api_names.__file__).parent


def public_names() -> list[str]:
    """Every public name of TensorFlow 1.15, without raw ops and the copies of all below tf.compat."""
    return sorted(api_names.public_names())


@functools.cache
def missing_names() -> tuple[str, ...]:
    return tuple(name for name in public_names() if api_names.resolve(tf, name) is None and not _is_none(name))


def _is_none(name: str) -> bool:
    """Whether a name is there and stands for None."""
    space, _, last = name.rpartition(".")
    return hasattr(api_names.resolve(tf, space) if space else tf, last)


@functools.cache
def op_types() -> tuple[str, ...]:
    return tuple(sorted(json.loads((FRAMEWORK / "op_defs.json").read_text())))


@functools.cache
def missing_op_types() -> tuple[str, ...]:
    there = reasons.PLANNED | set(registry.names())
    return tuple(op_type for op_type in op_types() if op_type not in there)


def reason(table: dict[str, str], name: str) -> str | None:
    """The pattern of a table that fits a name."""
    return next((pattern for pattern in table if fnmatch.fnmatchcase(name, pattern)), None)


def page() -> str:
    """The page, as Markdown."""
    names, op_count = public_names(), len(op_types())
    share = 100 * (1 - len(missing_names()) / len(names))
    parts = [
        "# Names\n",
        "Everflow follows TensorFlow 1.15.5. This page is made from the package itself each time the site is built.\n",
        f"- **{len(names) - len(missing_names()):,} of {len(names):,} public names** are there ({share:.1f}\u00a0%), with the same arguments.\n"
        f"- **{op_count - len(missing_op_types()):,} of {op_count:,} op types** can be run. All {op_count:,} can be loaded, "
        "looked at and written.\n"
        f"- **{len(MISSING_CONTRIB)} packages of `tf.contrib`** are missing as a whole.\n",
        "A missing name raises an `AttributeError` that says so. An op type without a kernel raises an `UnimplementedError` "
        "when it is run, and names the op. "
        "[Run my old program](run-my-old-program.md) says what to do then.\n",
        "## What differs\n",
        _table(["name", "how it differs"], [(f"`tf.{name}`", why) for name, why in sorted(reasons.DIFFERS.items())]),
        "## Missing names, and why\n",
        _by_reason(reasons.MISSING_NAMES, missing_names(), "tf."),
        "Packages of `tf.contrib` that are not there yet: "
        + ", ".join(f"`{name}`" for name in sorted(MISSING_CONTRIB))
        + ".\n",
        "## Op types that can't be run, and why\n",
        _by_reason(reasons.MISSING_OP_TYPES, missing_op_types(), ""),
        "## Every public name\n",
        "Crossed out is what is missing, in italics what differs.\n",
        *_all_names(names),
        "## Every op type\n",
        _folded(f"{op_count:,} op types", [_marked(o, o, set(missing_op_types())) for o in op_types()]),
    ]
    return "\n".join(parts)


def _table(header: list[str], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _by_reason(table: dict[str, str], missing: tuple[str, ...], prefix: str) -> str:
    grouped: dict[str, list[str]] = collections.defaultdict(list)
    for name in missing:
        found = reason(table, name)
        grouped[table[found] if found else "not yet"].append(f"`{prefix}{name}`")
    return _table(["why", "what"], [(why, " ".join(names)) for why, names in sorted(grouped.items())])


def _marked(text: str, name: str, missing: set[str]) -> str:
    if name in missing:
        return f"<del>`{text}`</del>"
    return f"*`{text}`*" if name in reasons.DIFFERS else f"`{text}`"


def _all_names(names: list[str]) -> list[str]:
    spaces: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        spaces[name.rpartition(".")[0]].append(name)
    missing = set(missing_names())
    return [
        _folded(
            f"`tf.{space}`: {len(members)}" if space else f"`tf`: {len(members)}",
            [_marked(name.rpartition(".")[2], name, missing) for name in members],
        )
        for space, members in sorted(spaces.items())
    ]


def _folded(title: str, items: list[str]) -> str:
    return f'??? note "{title}"\n    {" ".join(items)}\n'
