"""Which of many exports to keep: functions from a list of paths to those that stay, and ways to put them together."""

from __future__ import annotations

import collections
import math
import os

from everflow.platform import file_io

Path = collections.namedtuple("Path", "path export_version")


def largest_export_versions(n):
    """Keeps the `n` exports with the largest versions."""

    def keep(paths):
        return sorted(sorted(paths, key=lambda p: p.export_version)[-n:]) if n else []

    return keep


def one_of_every_n_export_versions(n):
    """Keeps the last export of each stretch of `n` versions: of 1 to n, of n + 1 to 2n, and so on."""

    def keep(paths):
        last = {math.ceil(p.export_version / n): p for p in sorted(paths, key=lambda p: p.export_version)}
        return sorted(last.values())

    return keep


def mod_export_version(n):
    """Keeps exports whose versions `n` divides."""

    def keep(paths):
        return sorted(p for p in paths if p.export_version % n == 0)

    return keep


def union(lf, rf):
    """Keeps what one of two functions keeps."""

    def keep(paths):
        return sorted({*lf(paths), *rf(paths)})

    return keep


def negation(f):
    """Keeps what another function doesn't."""

    def keep(paths):
        return sorted(set(paths) - set(f(paths)))

    return keep


def get_paths(base_dir, parser):
    """The folders in `base_dir` for which `parser(Path(path, None))` gives a path with its version, not None."""
    names = (name.rstrip("/") for name in file_io.list_directory(base_dir))
    found = [parser(Path(os.path.join(base_dir, name), None)) for name in names]
    return sorted(path for path in found if path)
