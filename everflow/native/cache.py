"""Files made at some cost, kept on disk for the next process: private to the user, checked before use, bounded."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import stat
import tempfile
from collections.abc import Callable

# Bytes of all files together; the ones that were not used for longest go first. To count them takes long where there
# are many, so that it is done once for so many bytes written.
MOST, BETWEEN_COUNTS = 256 << 20, 4 << 20
_MARK = b"everflow object 1\n"


class Cache:
    """A directory of files by key. Whatever goes wrong with it, one gets what was asked for, only later."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self._written = BETWEEN_COUNTS  # since all was counted

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The file of a key; made, and kept, where it is not there."""
        path = self.directory / hashlib.sha256(key.encode()).hexdigest()
        found = self._read(path)
        if found is None:
            found = make()
            with contextlib.suppress(OSError):  # a full or read-only disk costs time, nothing else
                self._write(path, found)
        return found

    def _read(self, path: pathlib.Path) -> bytes | None:
        """A file's content, if it is whole and nobody but this user can have written it."""
        try:
            with path.open("rb") as file:
                if not _is_private(os.fstat(file.fileno())) or not _is_private(os.stat(self.directory)):
                    return None
                content = file.read()
        except OSError:
            return None
        mark, digest, body = content[: len(_MARK)], content[len(_MARK) : len(_MARK) + 32], content[len(_MARK) + 32 :]
        if mark != _MARK or hashlib.sha256(body).digest() != digest:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the time of its last use
        return body

    def _write(self, path: pathlib.Path, body: bytes) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(os.stat(self.directory)):
            return
        handle, name = tempfile.mkstemp(dir=self.directory)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MARK + hashlib.sha256(body).digest() + body)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        self._written += len(body)
        if self._written > BETWEEN_COUNTS:
            self._written = 0
            self._shrink()

    def _shrink(self) -> None:
        files = []
        for entry in os.scandir(self.directory):
            with contextlib.suppress(OSError):  # another process may have been quicker
                status = entry.stat()
                files.append((status.st_mtime, status.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= MOST - BETWEEN_COUNTS:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= size


def _is_private(status: os.stat_result) -> bool:
    """Whether a file is the user's and only the user can change it."""
    if not hasattr(os, "getuid"):  # such rights are not told in this way everywhere
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
