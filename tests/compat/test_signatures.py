"""tf.compat.v2's functions with other arguments: each hands them on by names that tf's function has."""

import functools
import inspect

import pytest

import everflow as tf
from everflow.compat import signatures


@pytest.mark.parametrize("path", sorted(signatures.lines()))
def test_arguments_are_handed_on_by_names_that_are_there(path):
    text, _, changes = signatures.lines()[path].partition(")")
    renamed = dict(change.split(">") for change in changes.split() if ">" in change)
    always = [change.partition("=")[0] for change in changes.split() if "=" in change]
    names = [renamed.get(name, name) for name in signatures.signature("(" + text.partition("(")[2] + ")").parameters]
    served = functools.reduce(getattr, path.split("."), tf)
    inspect.signature(served).bind(**dict.fromkeys([*names, *always]))
