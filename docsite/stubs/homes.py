"""Which namespaces there are, which names each shows, and where a thing that has several names is described."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import types
from typing import Any

import everflow as tf
from docsite import compatibility
from everflow import contrib
from everflow.contrib import slim

# Modules below tf.contrib's that programs reach by attributes, and that no list of TensorFlow's names has.
_CONTRIB_MODULES = {
    "compiler": ["jit"],
    "distributions": ["bijectors"],
    "eager": ["metrics"],
    "framework": ["nest"],
    "learn": ["datasets", "preprocessing", "utils"],
    "losses": ["metric_learning"],
    "slim": sorted(slim._MODULES),
    "slim.nets": ["alexnet", "inception", "overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"],
    "tfprof": ["model_analyzer", "tfprof_logger"],
}
# Names that TensorFlow shows by accident, and what Python's modules leave in every namespace.
ACCIDENTS = frozenset(["annotations", "absolute_import", "division", "print_function", "v1", "v2"])


@functools.cache
def namespaces() -> dict[str, types.ModuleType]:
    """{dotted public name, "" for tf: module}, outer before inner. tf.compat.v2 is made at run time and isn't among them,
    nor is tf.flags, which is absl's.
    """
    found: dict[str, types.ModuleType] = {"": tf, "compat": tf.compat, "contrib": contrib}
    for part in pkgutil.iter_modules(contrib.__path__):
        found[f"contrib.{part.name}"] = importlib.import_module(f"everflow.contrib.{part.name}")
    for part, inside in _CONTRIB_MODULES.items():
        for name in inside:
            module = getattr(found[f"contrib.{part}"], name)
            if module.__name__.startswith("everflow.contrib") and module not in found.values():
                found[f"contrib.{part}.{name}"] = module
    modules = {module.__name__ for module in found.values()}
    for name in sorted(compatibility.public_names(), key=lambda n: (n.startswith("contrib"), n.count("."), n)):
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            path = ".".join(parts[:depth])
            if path in found:
                continue
            module = _get(path)
            if not isinstance(module, types.ModuleType) or not module.__name__.startswith("everflow."):
                break
            if module.__name__ not in modules:
                modules.add(module.__name__)
                found[path] = module
    return found


def _get(path: str) -> Any:
    found: Any = tf
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


@functools.cache
def _listed() -> dict[str, set[str]]:
    listed: dict[str, set[str]] = {}
    for name in compatibility.public_names():
        space, _, last = name.rpartition(".")
        listed.setdefault(space, set()).add(last)
    return listed


@functools.cache
def names(space: str) -> dict[str, Any]:
    """What a namespace shows: the names TensorFlow has there, and what is defined in its own module."""
    module = namespaces()[space]
    listed = _listed().get(space, set()) | _modules_of(space)
    found = {}
    for name in sorted({*dir(module), *listed}):
        if name.startswith("_") or name in ACCIDENTS or not hasattr(module, name):
            continue
        value = getattr(module, name)
        if (
            name in listed
            or _is_defined_in(module, value)
            or space.startswith(("contrib", "compat"))
            and _is_ours(value)
        ):
            found[name] = value
    return found


def _modules_of(space: str) -> set[str]:
    """The namespaces inside of one."""
    if not space:
        return {path for path in namespaces() if "." not in path} - {""} | {"flags"}
    if space == "app":
        return {"flags"}
    inside = {path.removeprefix(f"{space}.") for path in namespaces() if path.startswith(f"{space}.")}
    return {name for name in inside if "." not in name} | set(_CONTRIB_MODULES.get(space.removeprefix("contrib."), ()))


def _is_defined_in(module: types.ModuleType, value: Any) -> bool:
    return getattr(value, "__module__", None) == module.__name__ or isinstance(value, str | int | float)


def _is_ours(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return value in namespaces().values()
    return str(getattr(value, "__module__", "")).startswith("everflow") and (
        inspect.isroutine(value) or isinstance(value, type)
    )


def is_described(value: Any) -> bool:
    """Whether stubs say of a thing what it is, rather than only of which type."""
    return (inspect.isroutine(value) or isinstance(value, type)) and not is_message(value)


def is_message(value: Any) -> bool:
    return isinstance(value, type) and hasattr(value, "DESCRIPTOR")


@functools.cache
def homes() -> dict[int, str]:
    """{id of a function or class: the public name it is described under}: its own name, as near to tf as there is one."""
    found: dict[int, tuple[tuple, str]] = {}
    for space in namespaces():
        for name, value in names(space).items():
            if isinstance(value, types.ModuleType) or not is_described(value):
                continue
            path = f"{space}.{name}" if space else name
            rank = (space.startswith("contrib"), getattr(value, "__name__", name) != name, path.count("."), path)
            if id(value) not in found or rank < found[id(value)][0]:
                found[id(value)] = (rank, path)
    return {key: path for key, (_, path) in found.items()}
