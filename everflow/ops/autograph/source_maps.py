"""Where lines of converted functions come from: converted code keeps the file and lines of what it was made from."""

from __future__ import annotations

import inspect
import threading


class _Entered(threading.local):
    mapper: StackTraceMapper | None = None


_entered = _Entered()


class StackTraceMapper:
    """While it is entered, lines of a converted function are known by the lines they were made from.

    >>> with tf.contrib.autograph.StackTraceMapper(tf.contrib.autograph.to_graph(f)) as mapper:
    ...     lines = mapper.get_effective_source_map()
    """

    def __init__(self, converted_fn):
        self._function = converted_fn
        self._outer: StackTraceMapper | None = None
        self._known: dict | None = None

    def __enter__(self):
        self._outer, _entered.mapper = _entered.mapper, self
        return self

    def __exit__(self, *raised):
        _entered.mapper = self._outer
        self.reset()

    def reset(self):
        """Forget what was found out of the function: it is looked at again when it is asked for."""
        self._known = None

    def get_effective_source_map(self):
        """{(file, line): (file, line, function's name)}, with those of mappers that this one was entered in."""
        if self._known is None:
            around = {} if self._outer is None else self._outer.get_effective_source_map()
            self._known = {**around, **_lines_of(self._function)}
        return self._known


def _lines_of(function):
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        raise TypeError(f"{function!r} is no Python function, so it has no lines")
    lines = sorted({line for _, _, line in code.co_lines() if line})
    return {(code.co_filename, line): (code.co_filename, line, function.__name__) for line in lines}
