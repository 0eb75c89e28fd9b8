"""`GeneratorDataset`: elements that a function makes of a state, until it is out of range.

The state is finished by another function, once: at the end of the elements, or when nobody can ask for more of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from everflow.kernels.data.datasets import Element, End, Following, Iteration, Source, dataset
from everflow.kernels.data.functions import caller, the_end

if TYPE_CHECKING:
    from everflow.kernels.context import Session
    from everflow.kernels.tensors import Value
    from everflow.protos.attr_value_pb2 import NameAttrList


class _Generated:
    """The elements of one iteration."""

    def __init__(
        self,
        begin: Callable[[], Element],
        advance: Callable[..., Element],
        finish: Callable[..., object],
    ) -> None:
        self._begin, self._advance, self._finish = begin, advance, finish
        self._state: Element | None = None
        self._end: weakref.finalize | None = None

    def __call__(self) -> Element:
        if self._end is None or self._state is None:
            self._state = self._begin()
            self._end = weakref.finalize(self, self._finish, *self._state)
            self._end.atexit = False  # a process that ends takes its states with it
        if not self._end.alive:
            raise End
        try:
            return self._advance(*self._state)
        except End:
            self._end()
            raise


@dataset("GeneratorDataset")
def generator_dataset(
    init_func_other_args: list[Value],
    next_func_other_args: list[Value],
    finalize_func_other_args: list[Value],
    *,
    init_func: NameAttrList,
    next_func: NameAttrList,
    finalize_func: NameAttrList,
    session: Session,
) -> Source:
    def start(iteration: Iteration) -> Following:
        finish = iteration.function(session, finalize_func)

        def finish_state(*state: Value) -> None:
            finish(*state, *finalize_func_other_args, step=None)  # the run that asked last may be over

        return _Generated(
            caller(session, init_func, init_func_other_args, iteration),
            caller(session, next_func, next_func_other_args, iteration, the_end),
            finish_state,
        )

    return Source(start)
