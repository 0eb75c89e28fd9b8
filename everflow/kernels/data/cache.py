"""Cached datasets at run time: elements kept in memory, or in the files of a checkpoint's format."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.formats.bundle import BundleReader, BundleWriter, index_name
from everflow.framework import dtypes
from everflow.framework.errors import AlreadyExistsError, NotFoundError
from everflow.kernels.data import blocks
from everflow.kernels.data.datasets import (
    Blocks,
    Dataset,
    Element,
    End,
    Following,
    Iteration,
    Take,
    dataset,
    from_iterable,
    text,
)
from everflow.kernels.registry import acting, kernel
from everflow.kernels.tensors import AnyTensor, Strings, from_numpy, to_numpy
from everflow.platform.progress import Work

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Step


class Memory:
    """What the iterations of a cached dataset share, or of all that are given it; full once one of them has reached the end."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None
        self.blocks: list[Any] | None = None  # the same as columns, where they came so

    def all_elements(self) -> list[Element] | None:
        if self.elements is None and self.blocks is not None:
            self.elements = [element for block in self.blocks for element in blocks.rows(block)]
        return self.elements


def _in_memory(input_dataset: Dataset, memory: Memory) -> Dataset:
    def start(iteration: Iteration) -> Following:
        if memory.all_elements() is not None:
            return from_iterable(memory.all_elements).start(iteration)
        following, kept = input_dataset.start(iteration), []
        work = _filling("in memory", input_dataset.cardinality)

        def caching() -> Element:
            try:
                element = following()
            except End:
                memory.elements = kept
                work.close()
                raise
            kept.append(element)
            work.advance()
            return element

        return caching

    def in_blocks() -> Blocks | None:
        source = input_dataset.blocks
        return None if source is None else _blocks_in_memory(source, memory, input_dataset.cardinality)

    return Dataset(start, input_dataset.cardinality, blocks=in_blocks)


def _filling(where: str, cardinality: int) -> Work:
    return Work(f"Filling the cache {where}", cardinality if cardinality > 0 else None, "elements")


def _blocks_in_memory(source: Blocks, memory: Memory, cardinality: int) -> Blocks:
    """The same many at a time."""

    def start(iteration: Iteration) -> Take:
        if memory.blocks is None and memory.elements is not None:
            elements = memory.elements
            return blocks.of(from_iterable(lambda: elements)).start(iteration)
        if memory.blocks is not None:
            return blocks.again(memory.blocks).start_columns(iteration)
        following, kept = source.start_columns(iteration), []
        work = _filling("in memory", cardinality)

        def caching(n: int) -> Any:
            try:
                block = following(n)
            except End:
                memory.blocks = [blocks.joined(kept)] if kept and blocks.fit(kept) else kept
                work.close()
                raise
            kept.append(block)
            work.advance(blocks.size_of(block))
            return block

        return caching

    return Blocks(start, quiet=source.quiet)


def _key(element: int, component: int) -> str:
    return f"{element:09d}_{component:02d}"


def _in_file(input_dataset: Dataset, name: str, output_types: list[DType]) -> Dataset:
    def reading(iteration: Iteration) -> Following:
        reader = BundleReader(name)
        names = reader.names()
        count = len({key.split("_")[0] for key in names})

        def elements() -> Iterator[Element]:
            for i in range(count):
                yield tuple(_value(reader.read(_key(i, c))) for c in range(len(output_types)))

        return from_iterable(elements).start(iteration)

    def writing(iteration: Iteration) -> Following:
        following, kept = input_dataset.start(iteration), []
        lock: _Lock | None = _Lock(name, iteration)
        work = _filling(os.path.basename(name), input_dataset.cardinality)

        def caching() -> Element:
            nonlocal lock
            if lock is None:
                raise End
            try:
                element = following()
            except End:
                work.close()
                _write(name, kept, output_types)
                lock.release()
                lock = None
                raise
            kept.append(element)
            work.advance()
            return element

        return caching

    def start(iteration: Iteration) -> Following:
        following: Following | None = None

        def first_or_next() -> Element:
            nonlocal following
            if following is None:  # whoever asks first writes; another iteration may have been it
                following = (reading if os.path.exists(index_name(name)) else writing)(iteration)
            return following()

        return first_or_next

    return Dataset(start, input_dataset.cardinality)


class _Lock:
    """The file that says that an iteration is writing a cache: it goes when all is written, or with the iteration, or
    where somebody else wants to write and the iteration's session is closed.
    """

    release: Callable[[], Any]
    _step: Step | None

    def __init__(self, name: str, iteration: Iteration) -> None:
        path = f"{name}_0.lockfile"
        before = _locks.get(path)
        if before is not None and before._step is not None and before._step.cancelled:
            before.release()
        self._step = None if iteration.step is None else iteration.step.detached()
        try:
            with open(path, "x") as file:
                file.write(f"Created by process {os.getpid()}\n")
        except FileExistsError:
            raise AlreadyExistsError(
                None,
                None,
                f"There is a file {path}: another iteration writes this cache, or one was cut off; then remove it",
            ) from None
        except FileNotFoundError:
            raise NotFoundError(None, None, f"{path} can't be written: there is no such folder") from None
        self.release = weakref.finalize(self, _removed, path)
        _locks[path] = self


_locks: weakref.WeakValueDictionary[str, _Lock] = weakref.WeakValueDictionary()  # of this process


def _removed(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # somebody else was quicker
        os.remove(path)


def _value(array: np.ndarray) -> AnyTensor:
    return np.array(array, object) if array.dtype == object else from_numpy(array)


def _write(name: str, elements: list[Element], output_types: list[DType]) -> None:
    writer = BundleWriter(name)
    for i, element in enumerate(elements):
        for c, (value, dtype) in enumerate(zip(element, output_types, strict=True)):
            writer.add(_key(i, c), value if dtype is dtypes.string else to_numpy(value, dtype))
    writer.finish()


@dataset("CacheDataset")
def cache_dataset(input_dataset: Dataset, filename: Strings, *, output_types: list[DType]) -> Dataset:
    name = text(filename)
    return _in_file(input_dataset, name, output_types) if name else _in_memory(input_dataset, Memory())


@kernel("AnonymousMemoryCache")
def anonymous_memory_cache() -> tuple[Memory, Memory]:
    made = Memory()
    return made, made


@dataset("CacheDatasetV2")
def cache_dataset_v2(input_dataset: Dataset, filename: Strings, cache: Memory, *, output_types: list[DType]) -> Dataset:
    """As CacheDataset; elements in memory are where others can find them."""
    name = text(filename)
    return _in_file(input_dataset, name, output_types) if name else _in_memory(input_dataset, cache)


@acting("DeleteMemoryCache")
def delete_memory_cache(handle: Memory, deleter: Memory) -> None:
    handle.elements = handle.blocks = None
