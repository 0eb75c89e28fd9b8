"""tensorflow.python.data.util.nest: nests of datasets, in which lists are leaves."""

from collections.abc import Mapping

from everflow.data import structure as elements
from everflow.framework.nest import parts_of

is_sequence = elements.is_nested
flatten = elements.flatten


def assert_same_structure(nest1, nest2, check_types=True):
    """ValueError where two nests differ in structure; TypeError where their containers do, unless told otherwise."""
    if is_sequence(nest1) != is_sequence(nest2):
        raise ValueError(f"These don't have the same nested structure: {nest1} and {nest2}")
    if not is_sequence(nest1):
        return
    are_mappings = isinstance(nest1, Mapping) and isinstance(nest2, Mapping)
    if check_types and type(nest1) is not type(nest2) and not are_mappings:
        raise TypeError(f"These don't have the same sequence type: {type(nest1)} and {type(nest2)}")
    if len(parts_of(nest1)) != len(parts_of(nest2)):
        raise ValueError(f"These don't have the same number of parts: {nest1} and {nest2}")
    if are_mappings and set(nest1) != set(nest2):
        raise ValueError(f"The two dictionaries don't have the same set of keys: {list(nest1)} and {list(nest2)}")
    for a, b in zip(parts_of(nest1), parts_of(nest2)):
        assert_same_structure(a, b, check_types)


def pack_sequence_as(structure, flat_sequence):
    """A nest like another one, with other leaves."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    wanted = len(flatten(structure))
    if len(flat_sequence) != wanted:
        raise ValueError(f"A nest of {wanted} leaves can't be made of {len(flat_sequence)} values")
    return elements.pack_as(structure, flat_sequence)


def map_structure(func, *nests, check_types=True, **unknown):
    """A nest of what a function gives for the leaves of nests, taken together."""
    if unknown:
        raise ValueError(f"map_structure takes check_types besides nests, not {sorted(unknown)}")
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not nests:
        raise ValueError("Must provide at least one structure")
    for other in nests[1:]:
        assert_same_structure(nests[0], other, check_types)
    return elements.pack_as(nests[0], [func(*leaves) for leaves in zip(*map(flatten, nests))])


def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """An error where the upper part of a nest differs from another one."""
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError(f"{shallow_tree} is nested, and {input_tree} is not")
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(f"These don't have the same type: {type(shallow_tree)} and {type(input_tree)}")
    ours, others = parts_of(shallow_tree), parts_of(input_tree)
    if len(ours) != len(others):
        raise ValueError(f"One structure has {len(ours)} parts, the other one {len(others)}")
    if check_types and isinstance(shallow_tree, Mapping) and set(input_tree) != set(shallow_tree):
        raise ValueError(f"The two don't have the same keys: {list(shallow_tree)} and {list(input_tree)}")
    for a, b in zip(ours, others):
        assert_shallow_structure(a, b, check_types)


def flatten_up_to(shallow_tree, input_tree):
    """What stands in a nest where another one has leaves."""
    assert_shallow_structure(shallow_tree, input_tree)
    if not is_sequence(shallow_tree):
        return [input_tree]
    pairs = zip(parts_of(shallow_tree), parts_of(input_tree))
    return [leaf for a, b in pairs for leaf in flatten_up_to(a, b)]


def map_structure_up_to(shallow_tree, func, *inputs):
    """A nest like `shallow_tree` of what a function gives for what others have in these places."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, each) for each in inputs]
    return elements.pack_as(shallow_tree, [func(*each) for each in zip(*parts)])
