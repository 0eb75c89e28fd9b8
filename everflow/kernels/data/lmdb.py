"""The entries of LMDB stores as elements: keys and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from everflow.formats.lmdb_files import read_entries
from everflow.kernels.data.datasets import Element, End, Following, Iteration, Source, dataset

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings


def _scalar(value: bytes) -> Strings:
    made = np.empty((), object)
    made[()] = value
    return made


@dataset("LMDBDataset", "ExperimentalLMDBDataset")
def lmdb_dataset(filenames: Strings) -> Source:
    names = [name.decode() for name in np.atleast_1d(filenames).reshape(-1).tolist()]

    def start(iteration: Iteration) -> Following:
        at = 0
        entries: Iterator[tuple[bytes, bytes]] | None = None

        def following() -> Element:
            nonlocal at, entries
            while at < len(names):
                found, entries = entries or read_entries(names[at]), None
                entry = next(found, None)  # where a store can't be read, asking again is the same again
                if entry is not None:
                    entries = found
                    return _scalar(entry[0]), _scalar(entry[1])
                at += 1
            raise End

        return following

    return Source(start)
