"""Object files as code in memory, without LLVM, whose library takes 40 MB of a process that needs it for nothing else.

Only what its compiler writes for x86-64 on Linux (ELF, large code model) is known here: sections, and five kinds of
places in them that wait for an address. Whatever else a file has makes it `Foreign`, and LLVM's own linker loads it.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

CAN_LOAD = sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32
# The beginning of a file: 64 bits, little-endian; its type, an object file, and its machine, x86-64.
_MAGIC, _TYPE_AND_MACHINE = b"\x7fELF\x02\x01\x01", (1, 62)
_BITS, _SYMBOLS, _RELOCATIONS, _ZEROS = 1, 2, 4, 8  # types of sections
_WRITTEN, _IN_MEMORY, _CODE, _THREAD_LOCAL = 1, 2, 4, 1 << 10  # flags of sections
_UNDEFINED = 0  # the section of symbols that are elsewhere
# What is put where an address is missing, eight bytes each: by the symbol's address s, the place p, the table of
# addresses t, the symbol's own place in that table, e, and what is to be added, a.
_PLACES: dict[int, Callable[[int, int, int, int, int], int]] = {
    1: lambda s, p, t, e, a: s + a,
    24: lambda s, p, t, e, a: s + a - p,
    25: lambda s, p, t, e, a: s + a - t,
    27: lambda s, p, t, e, a: e + a - t,
    29: lambda s, p, t, e, a: t + a - p,
}
_BY_TABLE, _TABLE = 27, "_GLOBAL_OFFSET_TABLE_"


class Foreign(Exception):
    """An object file, or a machine, that is not known here."""


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


class _Symbol(NamedTuple):
    name: int
    info: int
    other: int
    section: int
    value: int
    size: int


@dataclass(frozen=True, slots=True)
class _Missing:
    """A place that waits for an address."""

    section: int
    offset: int
    kind: int
    symbol: int
    added: int


class _File:
    """What an object file says."""

    def __init__(self, image: bytes) -> None:
        self.image = image
        if image[: len(_MAGIC)] != _MAGIC or struct.unpack_from("<HH", image, 16) != _TYPE_AND_MACHINE:
            raise Foreign("no object file for x86-64")
        (start,) = struct.unpack_from("<Q", image, 40)
        size, count = struct.unpack_from("<HH", image, 58)
        self.sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", image, start + size * i)) for i in range(count)]
        tables = [section for section in self.sections if section.type == _SYMBOLS]
        if len(tables) != 1:
            raise Foreign(f"{len(tables)} tables of symbols")
        self._names = self.sections[tables[0].link]
        self.symbols = [_Symbol(*found) for found in struct.iter_unpack("<IBBHQQ", self.content(tables[0]))]
        # Tables for unwinding the stack are of no use: no exception of C++ passes through this code.
        self.loaded = {
            i: s for i, s in enumerate(self.sections) if s.flags & _IN_MEMORY and s.type in (_BITS, _ZEROS) and s.size
        }
        if any(section.flags & _THREAD_LOCAL for section in self.loaded.values()):
            raise Foreign("variables of threads")

    def content(self, section: _Section) -> bytes:
        found = self.image[section.offset : section.offset + section.size]
        if len(found) != section.size:
            raise Foreign("a file that was cut off")
        return found

    def name(self, symbol: _Symbol) -> str:
        start = self._names.offset + symbol.name
        return self.image[start : self.image.index(b"\0", start)].decode()

    def missing(self) -> list[_Missing]:
        found = []
        for section in self.sections:
            if section.type == _RELOCATIONS and section.info in self.loaded:
                for offset, info, added in struct.iter_unpack("<QQq", self.content(section)):
                    found.append(_Missing(section.info, offset, info & 0xFFFFFFFF, info >> 32, added))
        return found


class Image:
    """The code of an object file, ready to be called; its memory goes with it. `addresses`: of what it does not hold
    itself; what is not among them is looked for in the process.
    """

    def __init__(self, image: bytes, addresses: Mapping[str, int]) -> None:
        if not CAN_LOAD:
            raise Foreign("another machine")
        try:
            file = _File(image)
            missing = file.missing()
        except (struct.error, IndexError, ValueError) as e:
            raise Foreign("a file that was cut off") from e
        self._places: dict[int, int] = {}  # of sections
        code = self._lay_out(file, 0, _CODE)
        table = self._lay_out(file, code, 0)
        in_table = {m.symbol: i for i, m in enumerate({m.symbol: m for m in missing if m.kind == _BY_TABLE}.values())}
        size = _upwards(table + 8 * len(in_table), mmap.PAGESIZE)
        self._memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for i, section in file.loaded.items():
            if section.type == _BITS:
                self._memory[self._places[i] : self._places[i] + section.size] = file.content(section)
        self._relocate(file, missing, addresses, table, in_table)
        is_written = any(section.flags & _WRITTEN for section in file.loaded.values())
        self._protect(0, code, mmap.PROT_READ | mmap.PROT_EXEC)
        self._protect(code, size - code, mmap.PROT_READ | (mmap.PROT_WRITE if is_written else 0))
        self._symbols = {
            file.name(s): self._address(file, s, addresses) for s in file.symbols if s.section in self._places
        }

    def _lay_out(self, file: _File, place: int, kind: int) -> int:
        """Give sections that are code, or are not, their places from one on; where the page after them begins."""
        for i, section in file.loaded.items():
            if section.flags & _CODE == kind:
                self._places[i] = _upwards(place, max(section.alignment, 1))
                place = self._places[i] + section.size
        return _upwards(place, mmap.PAGESIZE)

    def _relocate(
        self,
        file: _File,
        missing: list[_Missing],
        addresses: Mapping[str, int],
        table: int,
        in_table: dict[int, int],
    ) -> None:
        """Put addresses where they are missing. `in_table`: the symbols that have an entry in the table of addresses."""
        for m in missing:
            if m.kind not in _PLACES:
                raise Foreign(f"relocation {m.kind}")
            symbol, place, entry = file.symbols[m.symbol], self._places[m.section] + m.offset, table
            if file.name(symbol) == _TABLE and symbol.section == _UNDEFINED:
                target = self._base + table
            else:
                target = self._address(file, symbol, addresses)
            if m.kind == _BY_TABLE:
                entry += 8 * in_table[m.symbol]
                struct.pack_into("<Q", self._memory, entry, target)
            value = _PLACES[m.kind](target, self._base + place, self._base + table, self._base + entry, m.added)
            struct.pack_into("<Q", self._memory, place, value & (1 << 64) - 1)

    def _address(self, file: _File, symbol: _Symbol, addresses: Mapping[str, int]) -> int:
        if symbol.section in self._places:
            return self._base + self._places[symbol.section] + symbol.value
        if symbol.section != _UNDEFINED:
            raise Foreign(f"a symbol of section {symbol.section:#x}")
        name = file.name(symbol)
        return addresses.get(name) or _in_process(name)

    def _protect(self, start: int, size: int, rights: int) -> None:
        if size and _libc().mprotect(self._base + start, size, rights):
            raise Foreign(f"the system does not allow it: error {ctypes.get_errno()}")

    def __getitem__(self, name: str) -> int:
        """The address of something that the file holds."""
        return self._symbols[name]


def _upwards(place: int, alignment: int) -> int:
    return -(-place // alignment) * alignment


def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


def _in_process(name: str) -> int:
    """The address of a function that everybody has, such as memcpy."""
    try:
        return ctypes.cast(getattr(_libc(), name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise Foreign(f"nothing here is called {name}") from None
