"""Examples in docstrings (`>>> tf.square(3.0)`) as code blocks, wherever in a docstring they stand."""

from __future__ import annotations

import re
from typing import Any

import griffe

# From the first prompt to the next empty line, unless it is in a fence already.
_SESSION = re.compile(r"(?:^|(?<=\n))(?P<indent>[ \t]*)>>>.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)


def fenced(text: str) -> str:
    """A docstring with its examples in fences."""
    if "```" in text:
        return text
    return _SESSION.sub(lambda m: f"{m['indent']}```pycon\n{m[0]}\n{m['indent']}```", text)


class Doctests(griffe.Extension):
    """For every function and class whose docstring has examples."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring and ">>>" in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
