"""Build functions and shape rules of ops on whole files."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.ops.shape_rules import vector_output
from everflow.ops.variables.variable import Variable


def read_file(filename, name=None):
    """The contents of a file, as one string.

    Args:
        filename: The path, a scalar string.
        name: The name of the operation in the graph.

    Returns:
        A scalar string.

    Raises:
        NotFoundError: When it runs, if there is no such file.

    Example:
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("hello")
        >>> sess.run(tf.read_file("a.txt"))
        b'hello'
    """
    return raw.ReadFile(filename, name=name)


def write_file(filename, contents, name=None):
    """Write a string to a file; missing folders are made.

    Args:
        filename: The path, a scalar string.
        contents: What to write, a scalar string.
        name: The name of the operation in the graph.

    Returns:
        The operation.

    Example:
        >>> sess.run(tf.write_file("folder/a.txt", "hello"))
        >>> open("folder/a.txt").read()
        'hello'
    """
    return raw.WriteFile(filename, contents, name=name)


def matching_files(pattern, name=None):
    """The names of files that match patterns, sorted.

    Args:
        pattern: A pattern, or a vector of them, such as `data/*.txt`.
        name: The name of the operation in the graph.

    Returns:
        A vector of strings.

    Example:
        >>> open("a.txt", "w").close()
        >>> sess.run(tf.matching_files("*.txt"))
        array([b'./a.txt'], dtype=object)
    """
    return raw.MatchingFiles(pattern, name=name)


def match_filenames_once(pattern, name=None):
    """A local variable with the names of files that match patterns when it is initialized.

    Args:
        pattern: A pattern, or a vector of them.
        name: The name of the operation in the graph.

    Returns:
        A variable; `tf.local_variables_initializer()` fills it.

    Example:
        >>> open("a.txt", "w").close()
        >>> names = tf.train.match_filenames_once("*.txt")
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(names)
        array([b'./a.txt'], dtype=object)
    """
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


@shape_rule("MatchingFiles")
def _matching_files_shape(op):
    op.inputs[0].shape.with_rank_at_most(1)
    return vector_output(op)


@shape_rule("ImmutableConst")
def _immutable_const_shape(op):
    return op.attrs["shape"]
