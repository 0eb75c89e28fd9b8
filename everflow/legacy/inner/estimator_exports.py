"""`estimator.gc`: which of a folder's exports to keep; filters of lists of `Path`, which can be joined."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from everflow.platform import file_io


class Path(NamedTuple):
    """A folder, and the version that its name says."""

    path: str
    export_version: int | None


_Filter = Callable[[list[Path]], list[Path]]


def _version(path: Path) -> int:
    assert path.export_version is not None
    return path.export_version


def _largest_export_versions(n: int) -> _Filter:
    """The `n` newest."""
    return lambda paths: sorted(sorted(paths, key=_version)[-n:]) if n else []


def _one_of_every_n_export_versions(n: int) -> _Filter:
    """The newest of each `n` versions: 1 to n, n + 1 to 2n, ..."""

    def keep(paths: list[Path]) -> list[Path]:
        newest: dict[int, Path] = {}
        for path in sorted(paths, key=_version):
            newest[(max(_version(path), 1) - 1) // n] = path
        return sorted(newest.values())

    return keep


def _mod_export_version(n: int) -> _Filter:
    """Every version that `n` divides."""
    return lambda paths: sorted(path for path in paths if _version(path) % n == 0)


def _union(lf: _Filter, rf: _Filter) -> _Filter:
    """What one filter or the other keeps."""
    return lambda paths: sorted(set(lf(paths)) | set(rf(paths)))


def _negation(f: _Filter) -> _Filter:
    """What a filter doesn't keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def _get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """What is in a folder, as `parser` makes it of a `Path` without a version; without what it gives None for."""
    names = [name.rstrip("/") for name in file_io.list_directory(base_dir)]
    parsed = [parser(Path(os.path.join(base_dir, name), None)) for name in names]
    return sorted(path for path in parsed if path)
