"""tensorflow.python.framework.traceable_stack: things with the file and line where they were made."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any


class TraceableObject:
    """A thing, and where it comes from."""

    SUCCESS, HEURISTIC_USED, FAILURE = range(3)

    def __init__(self, obj: Any, filename: str | None = None, lineno: int | None = None) -> None:
        self.obj, self.filename, self.lineno = obj, filename, lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Take down who called the caller of this, `offset` frames further out; the outermost frame where there are fewer."""
        frames = inspect.stack(context=0)
        position = offset + 1
        found = frames[min(position, len(frames) - 1)]
        self.filename, self.lineno = found.filename, found.lineno
        return self.SUCCESS if position < len(frames) else self.HEURISTIC_USED

    def copy_metadata(self) -> TraceableObject:
        """Where the thing comes from, without the thing."""
        return TraceableObject(None, self.filename, self.lineno)


class TraceableStack:
    """A stack of traceable things; what is last comes first when it is looked at."""

    def __init__(self, existing_stack: list[TraceableObject] | None = None) -> None:
        self._stack = list(existing_stack or [])

    def __len__(self) -> int:
        return len(self._stack)

    def push_obj(self, obj: Any, offset: int = 0) -> int:
        """Put a thing on top, with where the caller is."""
        traceable = TraceableObject(obj)
        self._stack.append(traceable)
        return traceable.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Any:
        """Take the thing on top away."""
        return self._stack.pop().obj

    def peek_top_obj(self) -> Any:
        """The thing on top."""
        return self._stack[-1].obj

    def peek_objs(self) -> Iterator[Any]:
        """The things, the last one first."""
        return (traceable.obj for traceable in reversed(self._stack))

    def peek_traceable_objs(self) -> Iterator[TraceableObject]:
        """The things with where they come from, the last one first."""
        return reversed(self._stack)

    def copy(self) -> TraceableStack:
        """The same things on another stack."""
        return TraceableStack(self._stack)
