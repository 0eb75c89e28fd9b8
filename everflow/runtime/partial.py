"""A run in parts: nodes run once, when a part needs them, and their values wait for the parts to come."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from everflow.framework import errors
from everflow.framework.operation import Tensor

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Operation
    from everflow.runtime.executor import LocalExecutor
    from everflow.runtime.hints import Value

# They are the session's, not the run's, so every part looks them up anew.
VARIABLES = frozenset(["Variable", "VariableV2"])


class PartialRun:
    """The state of one `partial_run_setup`."""

    def __init__(self, executor: LocalExecutor | None, fetches: list[Element], feeds: list[Tensor]) -> None:
        self._executor: LocalExecutor = executor  # type: ignore[assignment]  # None where a subclass runs things in another way
        self._asked, self._fetches = set(fetches), set(fetches)
        self._feeds = set(feeds)
        self._values: dict[Tensor, Value] = {}  # Tensor → kernel value of what was fed or computed
        self._arrays: dict[Tensor, Any] = {}  # Tensor → what the caller fed
        self._done: set[Operation] = set()  # operations that ran

    def run(self, fetches: list[Element], feeds: Mapping[Tensor, Any]) -> list[Any]:
        """Feed more and fetch more."""
        # All of it is looked at before anything is fed: a part that is refused changes nothing.
        _check("feed", feeds, self._feeds, self._arrays, "fed")
        _check("fetch", fetches, self._asked, self._asked - self._fetches, "fetched")
        for tensor, value in feeds.items():
            self._feed(tensor, value)
        self._compute(fetches)
        self._fetches -= set(fetches)
        return [self._result(fetch) for fetch in fetches]

    @property
    def is_over(self) -> bool:
        """Whether everything was fetched."""
        return not self._fetches

    def _feed(self, tensor: Tensor, value: Any) -> None:
        feeder = self._executor.feeder(tensor)
        self._arrays[tensor] = feeder.array(value)
        self._values[tensor] = feeder.feed(value)

    def _compute(self, fetches: list[Element]) -> None:
        """Run what the fetches need and has not run: a plan that is fed everything computed so far, and gives
        what is fetched and what later parts take.
        """
        needed = self._pending(fetches)
        if not needed:
            return
        later = set(self._pending(self._fetches.difference(fetches), is_now=False)).difference(needed)
        wanted = {*fetches, *(t for op in later for t in op.inputs)}
        kept = [t for op in needed for t in op.outputs if t in wanted]
        tensors = [t for t in kept if t not in self._values and t.op.type not in VARIABLES]
        plan = self._executor.compile(tensors + needed, list(self._values), to_numpy=False, done=self._done)
        results = self._executor.call(plan, list(self._values.values()))
        self._values.update(zip(tensors, results, strict=False))
        self._done.update(op for op in needed if op.type not in VARIABLES)

    def _pending(self, fetches: Iterable[Element], is_now: bool = True) -> list[Operation]:
        """What has to run for the fetches; now, with everything fed, or in a later part."""
        found: set[Operation] = set()
        stack = [f.op if isinstance(f, Tensor) else f for f in fetches if f not in self._values]
        while stack:
            op = stack.pop()
            if op in found or op in self._done:
                continue
            missing = [t for t in op.outputs if t in self._feeds and t not in self._values]
            if missing and not is_now:
                continue
            if missing:
                raise errors.InvalidArgumentError(None, None, f"{missing[0].name} is needed here and must be fed first")
            found.add(op)
            stack += [t.op for t in op.inputs if t not in self._values]
            stack += op.control_inputs
        return sorted(found, key=lambda op: op._id)

    def _result(self, fetch: Element) -> Any:
        from everflow.runtime.plan.emit import fetcher  # loads torch

        if not isinstance(fetch, Tensor):
            return None
        if fetch in self._arrays:
            return self._arrays[fetch]
        if fetch.op.type in VARIABLES:
            return self._executor.prepare([fetch], []).call(())[0]
        return fetcher(fetch.dtype.base_dtype, True)(self._values[fetch])


def _check(
    what: str, given: Iterable[Element], declared: Container[Element], done: Container[Element], participle: str
) -> None:
    for element in given:
        if element not in declared:
            raise errors.InvalidArgumentError(
                None, None, f"The {what} {element.name} was not specified in partial_run_setup."
            )
        if element in done:
            raise errors.InvalidArgumentError(None, None, f"The {what} {element.name} has already been {participle}.")
