"""Snapshots: the elements of a pipeline kept in files, for later runs of the same pipeline."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor

COMPRESSION_GZIP = "GZIP"
COMPRESSION_NONE = None


def snapshot(
    path,
    compression=None,
    reader_path_prefix=None,
    writer_path_prefix=None,
    shard_size_bytes=None,
    pending_snapshot_expiry_seconds=None,
    num_reader_threads=None,
    reader_buffer_size=None,
    num_writer_threads=None,
    writer_buffer_size=None,
):
    """The same dataset. Its first run writes the elements to files below a folder, later ones read them from there.

    >>> dataset.map(slow).apply(snapshot("/data/snapshots")).shuffle(1000)
    """
    texts = {
        "compression": compression,
        "reader_path_prefix": reader_path_prefix,
        "writer_path_prefix": writer_path_prefix,
    }
    numbers = {
        "shard_size_bytes": shard_size_bytes,
        "pending_snapshot_expiry_seconds": pending_snapshot_expiry_seconds,
        "num_reader_threads": num_reader_threads,
        "reader_buffer_size": reader_buffer_size,
        "num_writer_threads": num_writer_threads,
        "writer_buffer_size": writer_buffer_size,
    }
    attributes = {name: value if value is not None else "" for name, value in texts.items()}
    attributes |= {name: value if value is not None else -1 for name, value in numbers.items()}

    def apply(dataset):
        return dataset._then(
            raw.SnapshotDataset, path=convert_to_tensor(path, dtypes.string, name="path"), **attributes
        )

    return apply
