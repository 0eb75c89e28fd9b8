"""Frames of pandas as arrays of numbers, after checking that they hold nothing else."""

from __future__ import annotations

import numpy as np


def _is_frame(data):
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def extract_pandas_data(data):
    """The numbers of a frame; ValueError where columns hold anything else. What is no frame stays as it is."""
    if not _is_frame(data):
        return data
    wrong = [str(column) for column in data.columns if np.dtype(data[column].dtype).kind not in "iufb"]
    if wrong:
        raise ValueError("Columns of numbers or booleans are wanted; these hold something else: " + ", ".join(wrong))
    return data.values.astype("float")


def extract_pandas_matrix(data):
    """The array of a frame. What is no frame stays as it is."""
    return data.values if _is_frame(data) else data


def extract_pandas_labels(labels):
    """The numbers of a frame with one column; a series and anything else stay as they are."""
    if _is_frame(labels):
        if len(labels.columns) > 1:
            raise ValueError("Only one column for labels is allowed.")
        if np.dtype(labels[labels.columns[0]].dtype).kind not in "iufb":
            raise ValueError("Data types for labels must be int, float, or bool.")
        return labels.values
    return labels


def extract_dask_data(data):
    """A Dask frame or series with its divisions worked out; what is neither stays as it is."""
    return _with_divisions(data)


def extract_dask_labels(labels):
    """Dask labels, of one column, with their divisions worked out."""
    if getattr(labels, "ndim", 1) > 1 and hasattr(labels, "divisions") and len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return _with_divisions(labels)


def _with_divisions(data):
    """Rows get numbers that say which part they are in, so that parts can be taken by them."""
    if not hasattr(data, "divisions") or not hasattr(data, "map_partitions"):
        return data
    lengths = data.map_partitions(len).compute()
    ends = np.cumsum([0, *lengths]).tolist()
    data.divisions = (*ends[:-1], ends[-1] - 1) if ends[-1] else tuple(ends)
    return data
