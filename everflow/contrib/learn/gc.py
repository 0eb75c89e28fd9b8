"""Rules that pick versions of exports, to keep or to delete them; rules can be joined."""

from __future__ import annotations

import collections
import heapq
import math
import os

from everflow.platform import gfile

Path = collections.namedtuple("Path", "path export_version")


def largest_export_versions(n):
    """A rule that picks the `n` newest."""

    def keep(paths):
        newest = [(path.export_version or 0, i) for i, path in enumerate(paths) if path.export_version is not None]
        return sorted(paths[i] for _, i in heapq.nlargest(n, newest))

    return keep


def one_of_every_n_export_versions(n):
    """A rule that picks the newest of each interval of `n` versions."""

    def keep(paths):
        kept = {}
        for path in paths:
            if path.export_version is not None:
                interval = math.floor((path.export_version - 1) / n) if path.export_version else 0
                if interval not in kept or kept[interval].export_version < path.export_version:
                    kept[interval] = path
        return sorted(kept.values())

    return keep


def mod_export_version(n):
    """A rule that picks versions which are multiples of `n`."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def union(lf, rf):
    """A rule that picks what either of two rules picks."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f):
    """A rule that picks what another does not."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir, parser):
    """The folders below a folder that `parser(Path)` gives a version, in order."""
    found = [parser(Path(os.path.join(base_dir, name.rstrip("/")), None)) for name in gfile.ListDirectory(base_dir)]
    return sorted(path for path in found if path)
