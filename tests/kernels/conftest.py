"""What most tests of kernels begin with."""

import pytest

import everflow as tf
from everflow.native.loops.library import Library


@pytest.fixture
def sess():
    """A session on a default graph of the test's own."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def both_ways(monkeypatch):
    """Call a kernel without compiled loops and with them: the outcome must be the same, an error too. Gives it."""

    def call(kernel):
        outcomes = []
        for ready in (lambda library, work: None, _made):
            monkeypatch.setattr(Library, "ready", ready)
            try:
                outcomes.append(kernel())
            except tf.errors.OpError as error:
                outcomes.append((type(error), error.message))
        plain, compiled = outcomes
        assert _shown(plain) == _shown(compiled)
        return compiled

    return call


def _made(library, work):
    if library.code is None:
        library.make()
    return library.code


def _shown(value):
    if isinstance(value, list | tuple):
        return [_shown(v) for v in value]
    return (str(value.dtype), tuple(value.shape), repr(value.tolist())) if hasattr(value, "dtype") else value
