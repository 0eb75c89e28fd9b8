"""The stub of each namespace: its modules, functions and classes; what is described elsewhere is imported from there."""

from __future__ import annotations

import builtins
import functools
import inspect
import pathlib
import re
import types
from collections.abc import Callable
from typing import Any

from docsite.stubs import classes, homes, parameters, results
from docsite.stubs.types_of import ANY, of_value
from everflow.framework import op_defs

ROOT = pathlib.Path(homes.tf.__file__).parent
_HEAD = "# Made by `make stubs`.\n"
_VOCABULARY = re.findall(
    r"(?:^class |^from .* as |^)(\w+)(?:: TypeAlias|\(Protocol\)| = _|$)", (ROOT / "_typing.pyi").read_text(), re.M
)
_ANY_NAME = f"{_HEAD}from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"
_NAME = re.compile(r"<[^>]+>|(?<![\w.])[A-Za-z_]\w*")
# Results that the source doesn't show.
_RESULTS = {
    r"constant|keras\.backend\.(placeholder|constant|zeros|ones)": "<Tensor>",
    r"get_variable|keras\.backend\.variable|contrib\.(slim|framework)\.(model_)?variable": "<Variable>",
    r"(contrib\.)?layers\.(conv\d?d?|dense|dropout|flatten|batch_norm|max_pool|average_pool|avg_pool|fully_connected|separable_conv).*": "<Tensor>",
    r"(debugging\.)?assert_.*": "<Operation> | Any",
    r"keras\.(losses|metrics)\.[a-z_]+_(error|hinge|crossentropy|accuracy)": "<Tensor>",
    r"nn\.(bidirectional_)?dynamic_rnn": "tuple[Any, Any]",
    r"keras\.Input": "Any",
    r"(train|contrib\.framework)\.((get_or_)?create|get)_global_step": "<Variable>",
}


def write() -> int:
    """Write all stubs, and remove those of namespaces that are gone."""
    made = texts()
    for path in set(stub_files()) - set(made):
        path.unlink()
    for path, text in made.items():
        path.write_text(text)
    return len(made)


def stub_files() -> list[pathlib.Path]:
    """The files that `write` made."""
    return [path for path in ROOT.rglob("*.pyi") if path.read_text().startswith(_HEAD)]


def texts() -> dict[pathlib.Path, str]:
    """{file: what it should hold}."""
    found = {path_of(space): _Stub(space).text() for space in homes.namespaces()}
    found[ROOT / "compat" / "v1.pyi"] = f"{_HEAD}from everflow import *\n"
    found[ROOT / "flags.pyi"] = f"{_HEAD}from typing import Any\nfrom absl.flags import *\n\nFLAGS: Any\n"
    # Made of tables when it is imported.
    found[ROOT / "compat" / "v2.pyi"] = _ANY_NAME
    # Folders of namespaces that are no namespaces themselves.
    for folder in {parent for path in found for parent in path.parents if parent.is_relative_to(ROOT)}:
        found.setdefault(folder / "__init__.pyi", _ANY_NAME)
    return found


def path_of(space: str) -> pathlib.Path:
    return pathlib.Path(homes.namespaces()[space].__file__ or "").with_suffix(".pyi")


class _Stub:
    """One file."""

    def __init__(self, space: str) -> None:
        self._space = space
        self._names = homes.names(space)
        self._imports: set[str] = set()
        self._words: set[str] = set()

    def text(self) -> str:
        lines: list[str] = []
        for name, value in self._names.items():
            lines += self._entry(name, value)
        if self._space == "compat":
            lines += ["from everflow.compat import v1 as v1", "from everflow.compat import v2 as v2"]
        if not self._space:
            lines += [
                "__version__: str",
                "__git_version__: str",
                "__compiler_version__: str",
                "__cxx11_abi_flag__: int",
            ]
        words = [f"from everflow._typing import {', '.join(sorted(self._words))}"] if self._words else []
        return "\n".join([_HEAD.strip(), *sorted(self._imports), *words, "", *lines]).rstrip() + "\n"

    def _entry(self, name: str, value: Any) -> list[str]:
        if isinstance(value, types.ModuleType):
            return self._module(name, value)
        if homes.is_message(value):
            return self._alias(name, value.__module__, value.__name__)
        if not homes.is_described(value):
            return [f"{name}: {self._render(of_value(value))}"]
        space, _, home_name = homes.homes()[id(value)].rpartition(".")
        if space != self._space:
            return self._alias(name, homes.namespaces()[space].__name__, home_name)
        if home_name != name:
            return [f"{name} = {home_name}"]
        if isinstance(value, type):
            return list(classes.written(value, name, self._render_in(value)))
        return [self._function(name, value)]

    def _module(self, name: str, module: types.ModuleType) -> list[str]:
        if name == "flags" or module not in homes.namespaces().values() and name in homes.namespaces():
            return self._alias(name, "everflow", name)
        if not module.__name__.startswith("everflow."):
            return [f"{name}: {self._render(ANY)}"]
        package, _, last = module.__name__.rpartition(".")
        return self._alias(name, package, last)

    def _alias(self, name: str, module: str, original: str) -> list[str]:
        """Another module's name. Only names that stay the same are handed on by an import."""
        if name == original:
            return [f"from {module} import {original} as {name}"]
        self._imports.add(f"from {module} import {original} as _{original}")
        return [f"{name} = _{original}"]

    def _function(self, name: str, function: Callable) -> str:
        path = f"{self._space}.{name}" if self._space else name
        if self._space == "raw_ops":
            return self._raw_op(name, function)
        known = next((text for pattern, text in _RESULTS.items() if re.fullmatch(pattern, path)), None)
        result = known or results.of_function(function)
        text = parameters.written(parameters.signature_of(function), inspect.unwrap(function), self._render, True)
        return f"def {name}({text}) -> {self._render(result)}: ..."

    def _raw_op(self, name: str, function: Callable) -> str:
        definition = op_defs.find(name)
        inputs = len(definition.inputs)
        parts = ["*"]
        for i, parameter in enumerate(parameters.signature_of(function).parameters.values()):
            kind = "str | None" if parameter.name == "name" else "TensorLike" if i < inputs else ANY
            default = "" if parameter.default is parameter.empty else f" = {parameters.default_text(parameter.default)}"
            parts.append(f"{parameter.name}: {self._render(kind)}{default}")
        return f"def {name}({', '.join(parts)}) -> {self._render(results.of_op(definition))}: ..."

    def _render_in(self, cls: type) -> Callable[[str], str]:
        members = {name for owner in cls.__mro__ for name in vars(owner) if not name.startswith("__")}
        return functools.partial(self._render, hidden=frozenset(members))

    def _render(self, text: str, hidden: frozenset[str] = frozenset()) -> str:
        """A type's text as this file can write it: names that it, or a class in it, has for other things are reached by
        way of their modules.
        """

        def written(match: re.Match) -> str:
            word = match[0]
            if word.startswith("<"):
                return self._class(word[1:-1], hidden)
            shadowed = word in self._names or word in hidden
            if word in _VOCABULARY:
                if not shadowed:
                    self._words.add(word)
                    return word
                self._imports.add("from everflow import _typing")
                return f"_typing.{word}"
            if hasattr(builtins, word) and shadowed:
                self._imports.add("import builtins as _builtins")
                return f"_builtins.{word}"
            return word

        return _NAME.sub(written, text)

    def _class(self, path: str, hidden: frozenset[str]) -> str:
        if ":" in path:  # a message
            module, _, name = path.partition(":")
            self._imports.add(f"from {module} import {name} as _{name}")
            return f"_{name}"
        space, _, name = path.rpartition(".")
        if space == self._space and name not in hidden:
            return name
        self._imports.add("import everflow as _tf")
        return f"_tf.{path}"
