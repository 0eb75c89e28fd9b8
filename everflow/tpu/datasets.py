"""`StreamingFilesDataset`: records of many files, read in parallel."""

from __future__ import annotations

from everflow.data import TextLineDataset, TFRecordDataset, experimental
from everflow.data.dataset import Dataset

_KINDS = {
    "tfrecord": lambda name: TFRecordDataset(name, buffer_size=8 * 1024 * 1024),
    "textline": lambda name: TextLineDataset(name, buffer_size=8 * 1024 * 1024),
    "text": lambda name: TextLineDataset(name, buffer_size=8 * 1024 * 1024),
}


def StreamingFilesDataset(
    files,
    filetype=None,
    file_reader_job=None,
    worker_job=None,
    num_epochs=None,
    filename_shuffle_buffer_size=None,
    num_parallel_reads=None,
    batch_transfer_size=None,
    sloppy=None,
):
    """Records of the files that a pattern or a dataset of names gives; `filetype` is tfrecord, textline or a function of a
    name. Jobs of a TPU's cluster have no meaning here: this machine reads.
    """
    if filetype is None:
        filetype = "tfrecord"
    if isinstance(filetype, str):
        if filetype not in _KINDS:
            raise ValueError(f"filetype must be one of {sorted(_KINDS)} or a function, not {filetype!r}.")
        reader = _KINDS[filetype]
    elif callable(filetype):
        reader = filetype
    else:
        raise ValueError(f"filetype must be a string or a function, not {type(filetype)}.")
    if isinstance(files, str):
        names = Dataset.list_files(files)
    elif isinstance(files, Dataset):
        names = files
    else:
        raise ValueError(f"files must be a pattern or a dataset of names, not {type(files)}.")
    if filename_shuffle_buffer_size is not False:
        names = names.shuffle(filename_shuffle_buffer_size or 128)
    names = names.repeat(num_epochs)
    return names.apply(
        experimental.parallel_interleave(
            reader, cycle_length=num_parallel_reads or 4, sloppy=True if sloppy is None else sloppy
        )
    )
