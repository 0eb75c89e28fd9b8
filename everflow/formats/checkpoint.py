"""Opening a checkpoint of either version by its prefix or file pattern."""

from __future__ import annotations

import glob
import os

from everflow.formats.bundle import BundleReader, index_name
from everflow.formats.old_checkpoint import OldCheckpointReader
from everflow.framework.errors import NotFoundError


def open_checkpoint(pattern: str) -> BundleReader | OldCheckpointReader:
    """The reader of a checkpoint; NotFoundError where there is none."""
    if os.path.exists(index_name(pattern)):
        return BundleReader(pattern)
    paths = sorted(p for p in glob.glob(pattern) if os.path.isfile(p))
    if not paths:
        raise NotFoundError(None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {pattern}")
    return OldCheckpointReader(paths)
