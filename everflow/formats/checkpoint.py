"""Opening a checkpoint of either version by its prefix or file pattern."""

from __future__ import annotations

import glob
import os

from everflow.formats.bundle import BundleReader, index_name
from everflow.formats.old_checkpoint import OldCheckpointReader
from everflow.framework.errors import InvalidArgumentError, NotFoundError


def open_checkpoint(pattern: str) -> BundleReader | OldCheckpointReader:
    """The reader of a checkpoint; NotFoundError where there is none, InvalidArgumentError where even its folder isn't
    there.
    """
    if os.path.exists(index_name(pattern)):
        return BundleReader(pattern)
    paths = sorted(p for p in glob.glob(pattern) if os.path.isfile(p))
    if not paths:
        folder = os.path.dirname(pattern)
        if folder and not os.path.isdir(folder):
            raise InvalidArgumentError(
                None,
                None,
                f"Unsuccessful TensorSliceReader constructor: Failed to get matching files on {pattern}: "
                f"Not found: {folder}; No such file or directory",
            )
        raise NotFoundError(
            None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {pattern}"
        )
    return OldCheckpointReader(paths)
