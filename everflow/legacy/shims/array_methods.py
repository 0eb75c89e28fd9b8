"""Methods of numpy's arrays that went: `tostring`, `ptp`, `itemset`, and numbers from arrays of one element
(`float(sess.run(loss))` where the loss has shape [1], or a size of that shape, as every old `input_data.py` reads it).

`numpy.ndarray` is a type of C, which Python doesn't let anybody add to. A bit in the type says so
(Py_TPFLAGS_IMMUTABLETYPE); it is lowered while the methods are set, so that Python itself does the work, and then
raised again. Where the bit isn't found, arrays stay as they are.
"""

from __future__ import annotations

import contextlib
import ctypes

import numpy as np

_IMMUTABLE = 1 << 8
# tp_flags comes after PyVarObject (three words) and eighteen words of PyTypeObject; the same since Python 3.8.
_FLAGS_AT = (3 + 18) * ctypes.sizeof(ctypes.c_void_p)


def bring_back() -> None:
    for kind, methods in ((np.ndarray, _METHODS), (np.generic, _METHODS_OF_SCALARS)):
        with _open(kind) as opened:
            for name, method in methods.items() if opened else ():
                setattr(kind, name, method)


def _number_of(today, kind):
    """float(a) or int(a), for an array with a single element in any number of dimensions."""

    def number(self):
        if self.ndim == 0:
            return today(self)
        if self.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return kind(self.item())

    return number


def _index(self):
    """The number that an array is where one is wanted to count or to index with."""
    if self.dtype.kind not in "iub" or self.size != 1:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    return self.item()


def _itemset(self, *args):
    """a.itemset(value), a.itemset(flat_index, value), a.itemset(i, j, value) or a.itemset((i, j), value)."""
    *where, value = args
    if len(where) == 1:
        where = where[0] if isinstance(where[0], tuple) else np.unravel_index(where[0], self.shape)
    self[tuple(where) or (0,) * self.ndim] = value


_METHODS = {
    "__float__": _number_of(np.ndarray.__float__, float),
    "__int__": _number_of(np.ndarray.__int__, int),
    "__index__": _index,
    "tostring": lambda self, order="C": self.tobytes(order),
    "ptp": lambda self, axis=None, out=None, keepdims=False: np.ptp(self, axis=axis, out=out, keepdims=keepdims),
    "newbyteorder": lambda self, new_order="S": self.view(self.dtype.newbyteorder(new_order)),
    "itemset": _itemset,
}
_METHODS_OF_SCALARS = {
    "tostring": _METHODS["tostring"],
    "newbyteorder": lambda self, new_order="S": np.asarray(self).view(self.dtype.newbyteorder(new_order))[()],
}


@contextlib.contextmanager
def _open(cls: type):
    """Let attributes be set on a type of C. Yields whether that is possible here."""
    flags = ctypes.c_ulong.from_address(id(cls) + _FLAGS_AT)
    if flags.value != cls.__flags__ or not flags.value & _IMMUTABLE:
        yield False
        return
    flags.value &= ~_IMMUTABLE
    try:
        yield True
    finally:
        flags.value |= _IMMUTABLE
