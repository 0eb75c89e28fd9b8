"""Files of LMDB, a store of keys and values that Caffe's data sets came in; read with the package of that name."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed


def read_entries(path: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a store, a folder or its file, in the order of the keys."""
    store = _opened(os.path.realpath(path))
    with store.begin() as transaction:
        yield from transaction.cursor()


def _opened(path: str) -> Any:
    """A store, which a process may open once at a time: all who read it share it."""
    try:
        import lmdb  # an extra: few programs have such files
    except ImportError as error:
        raise ImportError(
            "LMDB files need the package lmdb: pip install 'everflow[lmdb]', or pip install lmdb."
        ) from error
    with _lock:
        store = _stores.get(path)
        if store is None:
            try:
                store = lmdb.open(path, subdir=os.path.isdir(path), readonly=True, lock=False, create=False)
            except lmdb.Error as error:
                raise InvalidArgumentError(None, None, f"{path} can't be read as an LMDB store: {error}") from error
            _stores[path] = store
        return store


_stores: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_lock = renewed(threading.Lock())
