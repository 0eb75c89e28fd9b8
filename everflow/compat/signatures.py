"""Functions that TensorFlow 2 has with other arguments, made of tf's own: `v2_signatures.txt` has a line for each.

A line is the signature, then what changes on the way: `input>tensor` is called `tensor` in tf, and `strict=True` is
always passed. Names among the defaults are those of types.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pathlib

import everflow


@functools.cache
def lines() -> dict[str, str]:
    """The rest of the line by the function's path, such as `nn.conv2d`."""
    text = pathlib.Path(__file__).with_name("v2_signatures.txt").read_text()
    return {line.partition("(")[0]: line for line in text.splitlines()}


def _default(node):
    return getattr(everflow, node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def signature(text: str) -> inspect.Signature:
    """What a signature in parentheses says."""
    (definition,) = ast.parse(f"def f{text}: pass").body
    names = [arg.arg for arg in definition.args.args]
    defaults = [_default(node) for node in definition.args.defaults]
    defaults = [inspect.Parameter.empty] * (len(names) - len(defaults)) + defaults
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(name, kind, default=default) for name, default in zip(names, defaults, strict=True)]
    )


def function(path: str):
    """The function of TensorFlow 2 at a path."""
    text, _, changes = lines()[path].partition(")")
    taken = signature("(" + text.partition("(")[2] + ")")
    renamed = dict(change.split(">") for change in changes.split() if ">" in change)
    always = {
        name: ast.literal_eval(value)
        for name, value in (change.split("=") for change in changes.split() if "=" in change)
    }
    served = functools.reduce(getattr, path.split("."), everflow)

    @functools.wraps(served)
    def call(*args, **kwargs):
        bound = taken.bind(*args, **kwargs)
        bound.apply_defaults()
        return served(**{renamed.get(name, name): value for name, value in bound.arguments.items()}, **always)

    call.__signature__ = taken
    return call
