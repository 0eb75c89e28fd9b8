"""Where a path leads: the local disk, or for gs://, s3://, memory:// and the like a file system of fsspec.

Both have the same few methods and raise TensorFlow's exceptions; all else about files is written once, on top of them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from typing import NamedTuple

from everflow.framework import errors

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")
_ERRORS = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.EBUSY: errors.FailedPreconditionError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
}


class FileStatistics(NamedTuple):
    """Length in bytes, time of the last change in nanoseconds, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


@contextlib.contextmanager
def translated(path: str):
    """Within it, what the system raises about `path` becomes TensorFlow's exception for it."""
    try:
        yield
    except OSError as e:
        words = os.strerror(e.errno) if e.errno else str(e)
        number = e.errno or (errno.ENOENT if isinstance(e, FileNotFoundError) else 0)
        raise _ERRORS.get(number, errors.UnknownError)(None, None, f"{path}; {words}") from e


class Local:
    """Files of this machine."""

    def strip(self, path: str) -> str:
        return path.removeprefix("file://")

    def open(self, path, mode):
        with translated(path):
            return open(self.strip(path), mode)

    def exists(self, path):
        return os.path.exists(self.strip(path))

    def is_directory(self, path):
        return os.path.isdir(self.strip(path))

    def list(self, path):
        with translated(path):
            return sorted(os.listdir(self.strip(path)))

    def make_directory(self, path):
        with translated(path), contextlib.suppress(FileExistsError):
            os.mkdir(self.strip(path))

    def make_directories(self, path):
        if path:
            with translated(path), contextlib.suppress(FileExistsError):
                os.makedirs(self.strip(path), exist_ok=True)

    def remove(self, path):
        with translated(path):
            os.remove(self.strip(path))

    def remove_tree(self, path):
        with translated(path):
            shutil.rmtree(self.strip(path))

    def rename(self, source, target):
        with translated(source):
            os.replace(self.strip(source), self.strip(target))

    def stat(self, path):
        with translated(path):
            found = os.stat(self.strip(path))
        return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(self.strip(path)))


class Remote:
    """Files that fsspec reaches."""

    def __init__(self, fs):
        self.fs = fs

    def open(self, path, mode):
        with translated(path):
            return self.fs.open(path, mode)

    def exists(self, path):
        return self.fs.exists(path)

    def is_directory(self, path):
        return self.fs.isdir(path)

    def list(self, path):
        with translated(path):
            return sorted(entry.rstrip("/").rpartition("/")[2] for entry in self.fs.ls(path, detail=False))

    def make_directory(self, path):
        with translated(path), contextlib.suppress(FileExistsError):
            self.fs.mkdir(path, create_parents=False)

    def make_directories(self, path):
        with translated(path):
            self.fs.makedirs(path, exist_ok=True)

    def remove(self, path):
        with translated(path):
            self.fs.rm_file(path)

    def remove_tree(self, path):
        with translated(path):
            self.fs.rm(path, recursive=True)

    def rename(self, source, target):
        with translated(source):
            self.fs.mv(source, target, recursive=self.fs.isdir(source))

    def stat(self, path):
        with translated(path):
            info = self.fs.info(path)
            changed = info.get("mtime") or 0
            with contextlib.suppress(NotImplementedError, FileNotFoundError):
                changed = self.fs.modified(path).timestamp()
        return FileStatistics(info.get("size") or 0, int(changed * 1e9), info["type"] == "directory")


_LOCAL = Local()


def filesystem_of(path: str) -> Local | Remote:
    """The file system that `path` is on; UnimplementedError for a scheme nobody knows."""
    match = _SCHEME.match(path)
    if match is None or match[1] == "file":
        return _LOCAL
    import fsspec  # takes a while to load, and most programs never need it

    try:
        return Remote(fsspec.filesystem(match[1]))
    except ImportError as e:
        raise errors.UnimplementedError(
            None, None, f"File system scheme {match[1]!r} needs another package (file: {path!r}): {e}"
        ) from e
    except ValueError as e:
        raise errors.UnimplementedError(
            None, None, f"File system scheme {match[1]!r} not implemented (file: {path!r})"
        ) from e
