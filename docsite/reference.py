"""The API reference: a page for each namespace, with every public name in it and what its docstring says.

Names on `tf` come from modules all over the package; mkdocstrings is told where each is defined. What it can't find
there, because it is made at import, is shown by its signature and docstring as Python has them.
"""

from __future__ import annotations

import functools
import inspect
import types

import griffe

import everflow as tf
from docsite import compatibility
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


def page_of(namespace: str) -> str:
    return f"reference/{namespace.replace('.', '-') or 'tf'}.md"


def index() -> str:
    """The page that lists the namespaces."""
    rows = [
        f"| [`{_dotted(space)}`]({page_of(space).removeprefix('reference/')}) | {what} |"
        for space, what in NAMESPACES.items()
    ]
    head = "# API reference\n\nWhat docstrings say, by namespace. [Compatibility](../compatibility.md) lists all names.\n\n"
    return head + "| | |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def page(namespace: str) -> str:
    """The page of a namespace, as Markdown for mkdocstrings."""
    parts = [f"# {_dotted(namespace)}\n\n{NAMESPACES[namespace].capitalize()}.\n"]
    for name in _names(namespace):
        thing = resolve(tf, name)
        if callable(thing):
            parts.append(_entry(f"tf.{name}", thing))
    return "\n".join(parts)


def _dotted(namespace: str) -> str:
    return f"tf.{namespace}" if namespace else "tf"


def _names(namespace: str) -> list[str]:
    return [
        name
        for name in compatibility.public_names()
        if name.rpartition(".")[0] == namespace and not isinstance(resolve(tf, name), types.ModuleType)
    ]


@functools.cache
def _package() -> griffe.Object | griffe.Alias:
    return griffe.load("everflow", submodules=True)


def _entry(name: str, thing: object) -> str:
    place = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
    if place.startswith("everflow.") and "<" not in place and _is_written_there(place):
        # A heading of ours: the name that programs use, not where it is defined.
        return f"## {name}\n\n::: {place}\n    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"
    return f"## {name}\n\n{_signature(name, thing)}{inspect.getdoc(thing) or ''}\n"


def _is_written_there(place: str) -> bool:
    try:
        found = _package()[place.removeprefix("everflow.")]
    except KeyError:
        return False
    return not found.is_alias and (found.is_function or found.is_class)


def _signature(name: str, thing: object) -> str:
    try:
        text = f"{name}{inspect.signature(thing)}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return f"```text\n{text}\n```\n\n"
