"""Build functions and shape rules of ops on whole files."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.ops.shape_rules import vector_output
from everflow.ops.variables.variable import Variable


def read_file(filename, name=None):
    """The contents of a file, as one string."""
    return raw.ReadFile(filename, name=name)


def write_file(filename, contents, name=None):
    """Write a string to a file; missing folders are made."""
    return raw.WriteFile(filename, contents, name=name)


def matching_files(pattern, name=None):
    """The names of files that match patterns, sorted."""
    return raw.MatchingFiles(pattern, name=name)


def match_filenames_once(pattern, name=None):
    """A local variable with the names of files that match patterns when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as name:
        return Variable(
            name=name,
            initial_value=matching_files(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


@shape_rule("ReadFile")
def _read_file_shape(op):
    return op.inputs[0].shape.with_rank(0)


@shape_rule("WriteFile")
def _write_file_shape(op):
    for scalar in op.inputs:
        scalar.shape.with_rank(0)
    return []


shape_rule("MatchingFiles")(vector_output)


@shape_rule("ImmutableConst")
def _immutable_const_shape(op):
    return op.attrs["shape"]
