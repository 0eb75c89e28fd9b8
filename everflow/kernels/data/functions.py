"""Datasets that call functions of the graph: map, filter, flat_map, interleave, scan, groups, reductions."""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework.errors import InternalError, InvalidArgumentError, OutOfRangeError
from everflow.kernels.data import blocks, shares
from everflow.kernels.data.batches import batched, grouped
from everflow.kernels.data.datasets import (
    Blocks,
    Dataset,
    Element,
    End,
    Following,
    Iteration,
    Lists,
    dataset,
    from_iterable,
)
from everflow.kernels.data.origins import MAKERS
from everflow.kernels.data.parallel import Call, Parallel
from everflow.kernels.data.rewrites import part_of
from everflow.kernels.data.shares import Form, shared_out
from everflow.kernels.data.shuffle import words_of
from everflow.kernels.data.stats import counter, telling_threads, timed
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.context import Session, Step
    from everflow.kernels.tensors import AnyTensor, Value
    from everflow.protos.attr_value_pb2 import NameAttrList


# What it is if a function says OutOfRange: the end of the elements, an error of it, or none that was to be seen.
_Ended = Callable[[OutOfRangeError], Exception]


def the_end(e: OutOfRangeError) -> Exception:
    """There are no more elements."""
    return End()


def _an_error(e: OutOfRangeError) -> Exception:
    return InvalidArgumentError(None, None, f"Function invocation produced OutOfRangeError: {e.message}")


def _unforeseen(e: OutOfRangeError) -> Exception:
    return InternalError(None, None, f"A function ran out of range, though elements are left: {e.message}")


def caller(
    session: Session,
    function: NameAttrList,
    captured: list[Value],
    iteration: Iteration,
    ended: _Ended = _unforeseen,
) -> Callable[..., tuple[Value, ...]]:
    """A function of the graph with the tensors it captured."""
    call = _in_steps(iteration.function(session, function), captured, ended)
    return lambda *values: call(iteration.step, values)


def _in_steps(call: Callable[..., list[Value]], captured: list[Value], ended: _Ended) -> Call:
    """The same where a call has a step of its own."""

    def run(step: Step | None, element: Element) -> Element:
        try:
            return tuple(call(*element, *captured, step=step))
        except OutOfRangeError as e:
            raise ended(e) from e

    return run


def _for_many(
    session: Session, function: NameAttrList, captured: list[Value], lists: tuple[bool, ...] = ()
) -> blocks.Many | None:
    """A function of the graph on many elements, with the tensors it captured; None where it has no such form."""
    found = session.functions.for_many(function.name, len(captured), lists)
    if found is None:
        return None
    call, result_lists = found
    return blocks.Many(
        lambda *columns, step: call(*columns, *captured, step=step),
        result_lists,
        Iteration.is_quiet(session, function),
    )


def _at_once(
    input_dataset: Dataset,
    captured: list[Value],
    f: NameAttrList,
    session: Session,
    ended: _Ended,
    count: int,
    iteration: Iteration,
    sloppy: bool,
    timed_as: str,
) -> Following | None:
    """Several calls of a function at the same time. Random numbers are drawn before, in the order of the elements; None
    where they can't be.
    """
    both = iteration.function_apart(session, f, len(captured)) if iteration.draws(session, f) else None
    if both is None and iteration.draws(session, f):
        return None
    source = input_dataset.blocks if iteration.takes_blocks else None
    if source is not None and source.quiet:
        following, ahead = blocks.one_by_one(source, iteration), iteration.may_call_ahead(session, f)
    else:
        following, ahead = input_dataset.start(iteration), False
    run, elements = iteration.function(session, f) if both is None else both[1], following
    if both is not None:
        draw = both[0]

        def elements() -> Element:
            return (*following(), *draw(step=iteration.step))

    call = timed(_in_steps(run, captured, ended), iteration, timed_as)
    return Parallel(elements, call, count, iteration, ahead=ahead, sloppy=sloppy)


def _shared_out(
    input_dataset: Dataset, captured: list[Value], f: NameAttrList, session: Session, ended: _Ended, count: int
) -> Blocks | None:
    """Blocks of elements shared out among threads, for functions that decode images; None for others, or where
    somebody sees what is called when.
    """
    source = input_dataset.blocks
    if source is None or not source.quiet or not _has_images(session, f) or not Iteration.may_call_ahead(session, f):
        return None
    if session.functions.for_so_many(f.name, len(captured), shares.MOST) is None:
        return None
    draws = Iteration.draws(session, f)
    if draws and session.functions.drawing(f.name) is None:
        return None

    def form_for(iteration: Iteration, size: int) -> Form:
        found = session.functions.for_so_many(f.name, len(captured), size)
        assert found is not None
        many, one = found

        def together(*columns: AnyTensor, step: Step | None) -> Sequence[Value]:
            return many(*columns, *captured, step=step)

        return Form(size, together, _in_steps(one, captured, ended), iteration.drawing(session, f) if draws else None)

    return shared_out(source, form_for, count)


def _has_images(session: Session, f: NameAttrList) -> bool:
    """Whether a function decodes images."""
    function: Any = session.graph._functions[f.name]
    return any(op.type in _DECODERS for op in function.body_tensors()[1][0].graph.get_operations())


_DECODERS = ("DecodeJpeg", "DecodePng")


def _mapped(
    input_dataset: Dataset,
    other_arguments: list[Value],
    f: NameAttrList,
    session: Session,
    preserve_cardinality: bool,
    calls: int = 1,
    *,
    sloppy: bool = False,
    timed_as: str = "",
) -> Dataset:
    ended = _an_error if preserve_cardinality else the_end

    def start(iteration: Iteration) -> Following:
        found = made.listed if iteration.takes_blocks else None
        if found is not None and found.quiet and (found.lists or found.shared_out):
            return blocks.one_by_one(found, iteration)
        if calls != 1 and iteration.may_call_at_once(session, f):
            is_open = sloppy or iteration.is_sloppy
            at_once = _at_once(input_dataset, other_arguments, f, session, ended, calls, iteration, is_open, timed_as)
            if at_once is not None:
                return at_once
        following = input_dataset.start(iteration)
        run = caller(session, f, other_arguments, iteration, ended)
        run = timed(run, iteration, timed_as)
        return lambda: run(*following())

    def in_blocks() -> Blocks | None:
        shared = calls != 1 and _shared_out(input_dataset, other_arguments, f, session, ended, calls)
        return shared or blocks.mapped(
            input_dataset,
            _for_many(session, f, other_arguments),
            lambda iteration: caller(session, f, other_arguments, iteration, ended),
        )

    made = Dataset(start, input_dataset.cardinality, blocks=in_blocks)
    return made


@dataset("MapDataset", "ExperimentalMapDataset")
def map_dataset(
    input_dataset: Dataset,
    other_arguments: list[Value],
    *,
    f: NameAttrList,
    preserve_cardinality: bool,
    session: Session,
) -> Dataset:
    return _mapped(input_dataset, other_arguments, f, session, preserve_cardinality)


def _seeded_map(
    input_dataset: Dataset,
    other_arguments: list[Value],
    *,
    f: NameAttrList,
    preserve_cardinality: bool,
    session: Session,
    seeds: tuple[int, int],
) -> Dataset:
    """A map whose function draws uniform numbers from two words of a stream for each element. No op is that; a rewrite
    makes it of a map.
    """
    ended = _an_error if preserve_cardinality else the_end
    function = session.functions.seeded(f.name, len(other_arguments))

    def start(iteration: Iteration) -> Following:
        following, draw = input_dataset.start(iteration), words_of(iteration, *seeds)
        call = _in_steps(function, other_arguments, ended)
        return lambda: call(iteration.step, (*following(), torch.tensor([draw(), draw()])))

    return Dataset(start, input_dataset.cardinality)


MAKERS["SeededMapDataset"] = _seeded_map


@dataset("ParallelMapDataset")
def parallel_map_dataset(
    input_dataset: Dataset,
    other_arguments: list[Value],
    num_parallel_calls: torch.Tensor,
    *,
    f: NameAttrList,
    sloppy: bool,
    preserve_cardinality: bool,
    session: Session,
) -> Dataset:
    calls = int(num_parallel_calls)
    if calls <= 0 and calls != -1:
        raise InvalidArgumentError(None, None, "num_parallel_calls must be greater than zero.")
    time = f"ParallelMap::{f.name}::execution_time"
    made = _mapped(
        input_dataset, other_arguments, f, session, preserve_cardinality, calls, sloppy=sloppy, timed_as=time
    )
    return telling_threads(made, calls)


@dataset("MapAndBatchDataset", "ExperimentalMapAndBatchDataset")
def map_and_batch_dataset(
    input_dataset: Dataset,
    other_arguments: list[Value],
    batch_size: torch.Tensor,
    num_parallel_calls: torch.Tensor,
    drop_remainder: torch.Tensor,
    *,
    f: NameAttrList,
    preserve_cardinality: bool,
    session: Session,
) -> Dataset:
    if int(batch_size) <= 0:
        raise InvalidArgumentError(None, None, "batch_size must be greater than zero.")
    calls = int(num_parallel_calls)
    if calls <= 0 and calls != -1:
        raise InvalidArgumentError(None, None, f"num_parallel_calls must be greater than zero, not {calls}.")
    time = f"MapAndBatch::{f.name}::execution_time"
    mapped = _mapped(input_dataset, other_arguments, f, session, preserve_cardinality, calls, timed_as=time)
    return telling_threads(grouped(mapped, int(batch_size), bool(drop_remainder), batched, with_map=True), calls)


@dataset("FilterDataset")
def filter_dataset(
    input_dataset: Dataset, other_arguments: list[Value], *, predicate: NameAttrList, session: Session
) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following, run = input_dataset.start(iteration), caller(session, predicate, other_arguments, iteration)
        count = counter(iteration, made)

        def filtered() -> Element:
            while True:
                element = following()
                is_wanted = bool(run(*element)[0])
                if count is not None:
                    count("filtered_elements" if is_wanted else "dropped_elements")
                if is_wanted:
                    return element

        return filtered

    def in_blocks() -> Blocks | None:
        return blocks.filtered(
            input_dataset,
            _for_many(session, predicate, other_arguments),
            lambda iteration: caller(session, predicate, other_arguments, iteration),
        )

    made = Dataset(start, blocks=in_blocks)
    return made


@dataset("TakeWhileDataset", "ExperimentalTakeWhileDataset")
def take_while_dataset(
    input_dataset: Dataset, other_arguments: list[Value], *, predicate: NameAttrList, session: Session
) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following, run, over = (
            input_dataset.start(iteration),
            caller(session, predicate, other_arguments, iteration),
            False,
        )

        def taken() -> Element:
            nonlocal over
            if not over:
                element = following()
                if bool(run(*element)[0]):
                    return element
                over = True
            raise End

        return taken

    return Dataset(start)


def dataset_of(values: tuple[Dataset]) -> Dataset:
    value = values[0]
    return value.item() if isinstance(value, np.ndarray) else value


@dataset("FlatMapDataset")
def flat_map_dataset(
    input_dataset: Dataset, other_arguments: list[Value], *, f: NameAttrList, session: Session
) -> Dataset:
    def parts(iteration: Iteration) -> Callable[[], Dataset]:
        following, run = input_dataset.start(iteration), caller(session, f, other_arguments, iteration)
        numbers = itertools.count()
        return lambda: part_of(iteration, made, dataset_of(run(*following())), next(numbers))

    def start(iteration: Iteration) -> Following:
        return one_after_the_other(parts(iteration), iteration)

    def in_blocks() -> Blocks:
        source = input_dataset.blocks
        return blocks.flattened(parts, source is not None and source.quiet and Iteration.is_quiet(session, f))

    made = Dataset(start, blocks=in_blocks)
    return made


@dataset("ScanDataset", "ExperimentalScanDataset")
def scan_dataset(
    input_dataset: Dataset,
    initial_state: list[Value],
    other_arguments: list[Value],
    *,
    f: NameAttrList,
    preserve_cardinality: bool,
    session: Session,
) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following, run = (
            input_dataset.start(iteration),
            caller(session, f, other_arguments, iteration, _an_error if preserve_cardinality else the_end),
        )
        state = tuple(initial_state)

        def scan() -> Element:
            nonlocal state
            results = run(*state, *following())
            state = results[: len(state)]
            return results[len(state) :]

        return scan

    return Dataset(start, input_dataset.cardinality)


@kernel("ReduceDataset")
def reduce_dataset(
    input_dataset: Dataset,
    initial_state: list[Value],
    other_arguments: list[Value],
    *,
    f: NameAttrList,
    session: Session,
    step: Step,
) -> list[Value]:
    iteration = Iteration(step)
    following, run, state = (
        input_dataset.start(iteration),
        caller(session, f, other_arguments, iteration),
        tuple(initial_state),
    )
    while True:
        try:
            state = run(*state, *following())
        except End:
            return list(state)


@kernel("DatasetToSingleElement")
def dataset_to_single_element(dataset: Dataset, *, step: Step) -> list[Value]:
    following = dataset.start(Iteration(step))
    try:
        element = following()
    except End:
        raise InvalidArgumentError(None, None, "Dataset was empty.") from None
    try:
        following()
    except End:
        return list(element)
    raise InvalidArgumentError(None, None, "Dataset had more than one element.")


# --- groups ----------------------------------------------------------------------------------


@dataset("GroupByWindowDataset", "ExperimentalGroupByWindowDataset")
def group_by_window_dataset(
    input_dataset: Dataset,
    key_func_other_arguments: list[Value],
    reduce_func_other_arguments: list[Value],
    window_size_func_other_arguments: list[Value],
    *,
    key_func: NameAttrList,
    reduce_func: NameAttrList,
    window_size_func: NameAttrList,
    session: Session,
) -> Dataset:
    def start(iteration: Iteration) -> Following:
        with_key = _with_keys(input_dataset, key_func, key_func_other_arguments, session, iteration)
        reduced = caller(session, reduce_func, reduce_func_other_arguments, iteration)
        size_of = caller(session, window_size_func, window_size_func_other_arguments, iteration)
        groups: dict[int, list] = {}
        sizes: dict[int, int] = {}

        def window(key: int) -> Dataset:
            elements = groups.pop(key)
            return part_of(
                iteration, made, dataset_of(reduced(torch.tensor(key), from_iterable(lambda: elements, len(elements))))
            )

        def next_window() -> Dataset:
            while True:
                try:
                    key, element = with_key()
                except End:
                    if not groups:
                        raise
                    return window(min(groups))
                if key not in sizes:
                    size = int(size_of(torch.tensor(key))[0])
                    if size <= 0:
                        raise InvalidArgumentError(
                            None, None, f"Window size must be greater than zero, but got {size}."
                        )
                    sizes[key] = size
                groups.setdefault(key, []).append(element)
                if len(groups[key]) == sizes[key]:
                    return window(key)

        return one_after_the_other(next_window, iteration)

    made = Dataset(start)
    return made


def one_after_the_other(next_part: Callable[[], Dataset], iteration: Iteration) -> Following:
    """The elements of datasets, those of one after those of the other."""
    inner: Following | None = None

    def following() -> Element:
        nonlocal inner
        while True:
            if inner is None:
                inner = next_part().start(iteration)
            try:
                return inner()
            except End:
                inner = None

    return following


def _with_keys(
    dataset: Dataset, key_func: NameAttrList, captured: list[Value], session: Session, iteration: Iteration
) -> Callable[[], tuple[int, Element]]:
    """A function that gives the next element and its key; keys of many elements are found together where nobody sees
    that they are read ahead.
    """
    key_of = caller(session, key_func, captured, iteration)
    source = dataset.listed if iteration.takes_blocks else None
    if source is None or not source.quiet or not Iteration.is_quiet(session, key_func):
        following = dataset.start(iteration)

        def one() -> tuple[int, Element]:
            element = following()
            return int(key_of(*element)[0]), element

        return one
    take = source.start_columns(iteration)
    waiting: deque[tuple[int | None, Element]] = deque()

    def keys_of(block: tuple[AnyTensor, ...]) -> Sequence[int | None]:
        many = _for_many(session, key_func, captured, tuple(isinstance(column, Lists) for column in block))
        if many is not None:
            with contextlib.suppress(Exception):  # whose it is shows when each is asked
                keys: Any = many(block, iteration.step)[0]
                return keys.tolist()
        iteration.check()
        return [None] * blocks.size_of(block)

    def ahead() -> tuple[int, Element]:
        if not waiting:
            block = take(blocks.AHEAD)
            waiting.extend(zip(keys_of(block), blocks.rows(block), strict=True))
        key, element = waiting.popleft()
        return (int(key_of(*element)[0]) if key is None else key), element

    return ahead


@dataset("GroupByReducerDataset", "ExperimentalGroupByReducerDataset")
def group_by_reducer_dataset(
    input_dataset: Dataset,
    key_func_other_arguments: list[Value],
    init_func_other_arguments: list[Value],
    reduce_func_other_arguments: list[Value],
    finalize_func_other_arguments: list[Value],
    *,
    key_func: NameAttrList,
    init_func: NameAttrList,
    reduce_func: NameAttrList,
    finalize_func: NameAttrList,
    session: Session,
) -> Dataset:
    def start(iteration: Iteration) -> Following:
        following = input_dataset.start(iteration)
        key_of = caller(session, key_func, key_func_other_arguments, iteration)
        initial = caller(session, init_func, init_func_other_arguments, iteration)
        reduced = caller(session, reduce_func, reduce_func_other_arguments, iteration)
        final = caller(session, finalize_func, finalize_func_other_arguments, iteration)
        states: dict[int, tuple] = {}
        order = None

        def collect() -> None:
            while True:
                try:
                    element = following()
                except End:
                    return
                key = int(key_of(*element)[0])
                if key not in states:
                    states[key] = initial(torch.tensor(key))
                states[key] = reduced(*states[key], *element)

        def group() -> Element:
            nonlocal order
            if order is None:
                collect()
                order = iter(sorted(states))
            for key in order:
                return final(*states[key])
            raise End

        return group

    return Dataset(start)
