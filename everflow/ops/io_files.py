"""Build functions and shape rules of ops on whole files."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape


def read_file(filename, name=None):
    """The contents of a file, as one string."""
    return raw.ReadFile(filename, name=name)


def write_file(filename, contents, name=None):
    """Write a string to a file; missing folders are made."""
    return raw.WriteFile(filename, contents, name=name)


def matching_files(pattern, name=None):
    """The names of files that match patterns, sorted."""
    return raw.MatchingFiles(pattern, name=name)


@shape_rule("ReadFile")
def _read_file_shape(op):
    return op.inputs[0].shape.with_rank(0)


@shape_rule("WriteFile")
def _write_file_shape(op):
    for scalar in op.inputs:
        scalar.shape.with_rank(0)
    return []


@shape_rule("MatchingFiles")
def _matching_files_shape(op):
    op.inputs[0].shape.with_rank_at_most(1)
    return TensorShape([None])
