"""The API reference: a page for each namespace, with every public name in it and what its docstring says.

Names on `tf` come from modules all over the package; mkdocstrings is told where each is defined. What it can't find
there, because it is made at import, is shown by its signature and docstring as Python has them.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pathlib
import re
import sys
import types

import griffe

import everflow as tf
from docsite import compatibility
from docsite.docstrings import Docstring
from everflow.framework.api_names import resolve

# Namespaces, and a line on what is in each.
NAMESPACES = {
    "": "tensors, graphs, sessions, variables, and the ops used most",
    "nn": "neural networks: activations, convolutions, cross entropies, recurrent networks",
    "layers": "layers over variable scopes",
    "train": "optimizers, checkpoints, sessions that watch over training, hooks, queues",
    "losses": "what is minimized",
    "metrics": "what is counted over batches",
    "data": "input pipelines",
    "image": "images",
    "math": "arithmetic",
    "linalg": "matrices",
    "random": "random numbers",
    "strings": "text",
    "summary": "what TensorBoard shows",
    "estimator": "training loops that others wrote",
    "feature_column": "from raw features to numbers",
    "saved_model": "models as folders",
    "io": "records and parsing",
    "keras.layers": "layers of Keras",
    "contrib.layers": "layers as slim has them",
    "contrib.rnn": "more recurrent cells",
    "contrib.seq2seq": "decoders and attention",
}


_WIDTH = 90  # of a signature on one line


def page_of(namespace: str) -> str:
    return f"reference/{namespace.replace('.', '-') or 'tf'}.md"


def index() -> str:
    """The page that lists the namespaces."""
    rows = [
        f"| [`{_dotted(space)}`]({page_of(space).removeprefix('reference/')}) | {what} |"
        for space, what in NAMESPACES.items()
    ]
    head = (
        "# API reference\n\nWhat docstrings say, by namespace. [Names](../names.md) lists all of them.\n\n"
        "Examples go on from these lines, and are run by tests:\n\n"
        "```python\nimport numpy as np\nimport everflow as tf\n\nsess = tf.InteractiveSession()\n```\n\n"
    )
    return head + "| | |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def pages() -> dict[str, str]:
    """The pages of all namespaces, as Markdown for mkdocstrings. What has several names is described under the first."""
    described: dict[str, str] = {}
    made = {page_of(namespace): _page(namespace, described) for namespace in NAMESPACES}
    things = [resolve(tf, name) for name in described.values()]
    above = [base for thing in things if isinstance(thing, type) for base in thing.__mro__]  # with what they take
    _read_only({thing.__module__ for thing in [*things, *above] if thing.__module__.startswith("everflow.")})
    return made


def _page(namespace: str, described: dict[str, str]) -> str:
    parts = [f"# {_dotted(namespace)}\n\n{NAMESPACES[namespace].capitalize()}.\n"]
    for name in _names(namespace):
        thing = resolve(tf, name)
        if callable(thing):
            parts.append(_entry(name, thing, described))
    return "\n".join(parts)


def _dotted(namespace: str) -> str:
    return f"tf.{namespace}" if namespace else "tf"


def _names(namespace: str) -> list[str]:
    return [
        name
        for name in compatibility.public_names()
        if name.rpartition(".")[0] == namespace and not isinstance(resolve(tf, name), types.ModuleType)
    ]


def _entry(name: str, thing: object, described: dict[str, str]) -> str:
    place = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
    if not (place.startswith("everflow.") and "<" not in place and _is_written_there(place)):
        return f"## tf.{name}\n\n{_signature(name, thing)}{_described(_docstring(thing))}\n"
    first = described.setdefault(place, name)
    if first != name:
        page = page_of(first.rpartition(".")[0]).removeprefix("reference/")
        return f"## tf.{name}\n\nThe same as [`tf.{first}`]({page}).\n"
    # The name that programs use, not where it is defined.
    return f"::: {place}\n    options:\n      heading: tf.{name}\n      toc_label: tf.{name}\n"


def _is_written_there(place: str) -> bool:
    """Whether a module has the statement that defines a function or class, rather than hands it on or makes it in another way."""
    module = place
    while module not in sys.modules:
        module = module.rpartition(".")[0]
    body = _body(module)
    for name in place.removeprefix(module + ".").split("."):
        found = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
        if not found:
            return False
        body = found[-1].body
    return True


@functools.cache
def _body(module: str) -> list[ast.stmt]:
    """The statements of a module, those under `if` and `try` among them."""
    waiting: list[ast.AST] = [ast.parse(pathlib.Path(sys.modules[module].__file__ or "").read_bytes())]
    found: list[ast.stmt] = []
    while waiting:
        inner = [node for node in ast.iter_child_nodes(waiting.pop(0)) if isinstance(node, ast.stmt)]
        found += inner
        waiting += [node for node in inner if isinstance(node, ast.If | ast.Try)]
    return found


def _read_only(modules: set[str]) -> None:
    """Have griffe read these modules and the packages they are in, of two thousand that the package has."""
    wanted = {tuple(module.split(".")[1:]) for module in modules}
    wanted |= {parts[:n] for parts in wanted for n in range(1, len(parts))}
    every = griffe.ModuleFinder.submodules

    def some(finder: griffe.ModuleFinder, module: griffe.Module) -> list[tuple[tuple[str, ...], pathlib.Path]]:
        return [found for found in every(finder, module) if module.path != "everflow" or tuple(found[0]) in wanted]

    griffe.ModuleFinder.submodules = some  # type: ignore[method-assign]


def _signature(name: str, thing: object) -> str:
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    shown = [_without_address(str(p.replace(annotation=p.empty))) for p in found.parameters.values()]
    text = f"tf.{name}({', '.join(shown)})"
    if len(text) > _WIDTH:
        text = f"tf.{name}(\n" + "".join(f"    {parameter},\n" for parameter in shown) + ")"
    return f"```python\n{text}\n```\n\n"


def _docstring(thing: object) -> str:
    """What is said of a thing; for an object that is called like a function, not what its class says of all of them."""
    if isinstance(thing, functools.partial):
        return inspect.getdoc(thing.func) or ""
    doc = inspect.getdoc(thing) or ""
    is_own = inspect.isroutine(thing) or isinstance(thing, type) or doc != inspect.getdoc(type(thing))
    return doc if is_own else ""


def _without_address(parameter: str) -> str:
    """`activation_fn=<function relu at 0x7f...>` as `activation_fn=relu`: what a default is called, not where it lies."""
    return re.sub(r"<(?:function |class ')?([\w.<>]+)[^=]*>$", lambda m: m[1].rpartition(".")[2], parameter)


def _described(doc: str) -> str:
    """A docstring as mkdocstrings shows others: a table of arguments, and the example as code."""
    parsed = Docstring.parse(doc)
    parts = [parsed.text]
    for head, column, items in (("Parameters", "Name", parsed.args), ("Raises", "Type", parsed.raises)):
        if items:
            rows = "".join(f"| `{item}` | {what.replace('|', '&#124;')} |\n" for item, what in items.items())
            parts.append(f"**{head}:**\n\n| {column} | Description |\n| --- | --- |\n{rows}")
    parts += [f"**{head}:** {text}" for head, text in (("Returns", parsed.returns), ("Yields", parsed.yields)) if text]
    parts += [f"**Example**\n\n```pycon\n{parsed.example}\n```"] if parsed.example else []
    return "\n\n".join(parts)
