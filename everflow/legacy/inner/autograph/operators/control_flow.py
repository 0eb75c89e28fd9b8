"""tensorflow.python.autograph.operators.control_flow: `if`, `while` and `for` of values or of tensors."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.legacy.inner.autograph.operators.special_values import is_undefined, is_undefined_return
from everflow.legacy.inner.autograph.utils import verbosity
from everflow.ops.autograph import operators
from everflow.ops.control_flow import cond as graph_cond

# A loop of Python that turns more often is taken for one that doesn't end, where there is a limit.
LIMIT_PYTHON_ITERATIONS, PYTHON_MAX_ITERATIONS = True, 100000000
# One that turns more often, and makes so many ops in a turn, could be a loop of the graph.
WARN_INEFFICIENT_UNROLL, INEFFICIENT_UNROLL_MIN_ITERATIONS, INEFFICIENT_UNROLL_MIN_OPS = True, 3000, 1
_Names = Sequence[str] | None


class _Turns:
    """Counts the turns of a `while` that Python runs, and warns once where it fills the graph."""

    def __init__(self) -> None:
        self._count = 0
        self._warns = WARN_INEFFICIENT_UNROLL and not executing_eagerly()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """A turn; ValueError where there were too many."""
        if LIMIT_PYTHON_ITERATIONS and self._count > PYTHON_MAX_ITERATIONS:
            raise ValueError(f"The loop has turned {self._count} times, more often than {PYTHON_MAX_ITERATIONS}")
        self._count += 1
        looks = self._warns and self._count % INEFFICIENT_UNROLL_MIN_ITERATIONS == 0
        before = _ops_made() if looks and self._count > INEFFICIENT_UNROLL_MIN_ITERATIONS else None
        yield
        if before is not None and _ops_made() - before >= INEFFICIENT_UNROLL_MIN_OPS:
            verbosity.warn("%d turns, each of which makes ops: this loop could be one of the graph", self._count)
            self._warns = False


def _ops_made() -> int:
    return len(get_default_graph().get_operations())


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    basic_symbol_names: _Names = None,
    composite_symbol_names: _Names = None,
) -> Any:
    """What the branch gives that `cond` chooses; where that is a tensor, what a branch of the graph gives."""
    if not operators._is_tensor(cond):
        return body() if cond else orelse()
    return tf_if_stmt(cond, body, orelse, get_state, set_state, basic_symbol_names, composite_symbol_names)


def tf_if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    basic_symbol_names: _Names,
    composite_symbol_names: _Names,
) -> Any:
    """An `if` that a tensor decides. Both branches have to give values, of the same types."""
    before = get_state()
    given: list[Any] = []

    def branch(function: Callable[[], Any], name: str) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            set_state(before)
            values = function()
            for value in nest.flatten(values):
                if is_undefined(value) or is_undefined_return(value):
                    raise ValueError(
                        f"{value!r} must get a value in the {name} branch of an `if` that a tensor decides"
                    )
            after = nest.map_structure(convert_to_tensor, (values, get_state()), expand_composites=True)
            given.append(after)
            if len(given) == 2:
                _check_same(given[0], given[1], [*(basic_symbol_names or ()), *(composite_symbol_names or ())])
            return nest.flatten(after, expand_composites=True) or [convert_to_tensor(1)]

        return run

    flat = graph_cond(cond, branch(body, "main"), branch(orelse, "else"), strict=True)
    structure = given[0]
    values, state = nest.pack_sequence_as(structure, flat[: len(nest.flatten(structure, True))], expand_composites=True)
    set_state(state)
    return values


def _check_same(one: Any, other: Any, names: Sequence[str]) -> None:
    """An error where the branches give values that can't be one: TypeError of what has names."""
    kind = TypeError if names else ValueError
    try:
        nest.assert_same_structure(one, other, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise kind(f"The branches give values that are nested differently: {error}") from None
    pairs = zip(nest.flatten(one, expand_composites=True), nest.flatten(other, expand_composites=True), strict=True)
    for position, (a, b) in enumerate(pairs):
        if a.dtype.base_dtype != b.dtype.base_dtype:
            name = names[position] if position < len(names) else f"value {position}"
            raise kind(f"{name!r} is {a.dtype.name} in the main branch and {b.dtype.name} in the else branch")


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., tuple],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    init_vars: tuple,
    basic_symbol_names: _Names = None,
    composite_symbol_names: _Names = None,
    opts: Mapping[str, Any] | None = None,
) -> tuple:
    """The loop's variables after a `while`. `opts` are arguments of `tf.while_loop` for one that a tensor decides."""
    names = _named(basic_symbol_names, init_vars)
    state = operators.State(tuple(composite_symbol_names or ()), get_state, set_state)
    values, turns = tuple(init_vars), _Turns()
    while True:
        condition = operators._tried(test, values)
        if operators._is_tensor(condition) and not executing_eagerly():
            loop = functools.partial(operators._graph_loop, test, body, values, names, state, _with_options(opts))
            return _of_the_graph(loop, init_vars, names)
        if not condition:
            return values
        with turns.turn():
            values = body(*values)


def for_stmt(
    iter_: Iterable,
    extra_test: Callable[..., Any] | None,
    body: Callable[..., tuple],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    init_vars: tuple,
    basic_symbol_names: _Names = None,
    composite_symbol_names: _Names = None,
) -> tuple:
    """The loop's variables after a `for`; `extra_test` of them says whether to go on."""
    names = _named(basic_symbol_names, init_vars)
    state = operators.State(tuple(composite_symbol_names or ()), get_state, set_state)
    if operators._is_tensor(iter_) or hasattr(iter_, "optionals"):
        return _of_the_graph(
            lambda: operators.for_stmt(iter_, extra_test, body, tuple(init_vars), names, state), init_vars, names
        )
    return tuple(operators.for_stmt(iter_, extra_test, body, tuple(init_vars), names, state))


def _named(names: _Names, values: tuple) -> tuple[str, ...]:
    return tuple(names) if names else tuple(f"variable {position}" for position in range(len(values)))


def _of_the_graph(loop: Callable[[], Any], values: tuple, names: tuple[str, ...]) -> tuple:
    """The variables after a loop of the graph, which all have to have values before it."""
    for value, name in zip(values, names, strict=False):
        if is_undefined(value) or is_undefined_return(value):
            raise ValueError(f"{name!r} must have a value before a loop that a tensor decides")
    return tuple(loop())


def _with_options(options: Mapping[str, Any] | None) -> Callable[..., Any]:
    return functools.partial(operators.while_loop, **(options or {}))
