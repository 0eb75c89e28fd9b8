"""Structures: values in nested lists, tuples, named tuples, dicts (in the order of their keys) and attrs classes.

Anything else is a leaf, strings and arrays included. With `expand_composites`, values made of several tensors, such as
a SparseTensor, are structures too.
"""

from __future__ import annotations

import collections
from collections import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from everflow.framework.hints import Structure

# Where structures differ: the exception to raise and its words.
_Difference: TypeAlias = tuple[type[Exception], str]
# Indices, keys and field names that lead to a leaf.
_Path: TypeAlias = tuple[Any, ...]


def is_attrs(value: Structure) -> bool:
    """Whether it is an object of a class that `attrs` made."""
    return hasattr(type(value), "__attrs_attrs__")


def _is_named_tuple(value: Structure) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_sequence(o: Structure) -> bool:
    """Whether `o` is a structure rather than a leaf."""
    kind = type(o)
    if kind is list or kind is tuple or kind is dict:
        return True
    if isinstance(o, str | bytes | bytearray):
        return False
    return isinstance(o, abc.Sequence | abc.Mapping | abc.MappingView) or is_attrs(o)


def is_nested(seq: Structure) -> bool:
    """Whether `seq` is a structure rather than a leaf.

    Args:
        seq: Any object.

    Returns:
        A bool.

    Example:
        >>> tf.nest.is_nested([1]), tf.nest.is_nested("text")
        (True, False)
    """
    return is_sequence(seq)


def _is_composite(value: Structure) -> bool:
    # A value of several tensors has a specification that takes it apart; a specification itself stands for such a
    # value.
    spec = getattr(value, "_type_spec", value)
    return hasattr(type(spec), "_to_components") and hasattr(type(spec), "_from_components")


def is_sequence_or_composite(o: Structure) -> bool:
    """Whether it is a structure, with sparse and ragged tensors taken for structures too."""
    return is_sequence(o) or _is_composite(o)


def _test(expand_composites: bool) -> Callable[[Structure], bool]:
    return is_sequence_or_composite if expand_composites else is_sequence


def _items(structure: Structure) -> list[tuple[Any, Structure]]:
    """(key, value) pairs one level down; keys are indices, dict keys or field names."""
    if isinstance(structure, abc.Mapping):
        return [(key, structure[key]) for key in _sorted_keys(structure)]
    if is_attrs(structure):
        return [(attr.name, getattr(structure, attr.name)) for attr in type(structure).__attrs_attrs__]
    if _is_named_tuple(structure):
        return list(zip(structure._fields, structure, strict=True))
    if is_sequence(structure):
        values = enumerate(structure)
        return list(values)
    spec = getattr(structure, "_type_spec", None)
    parts = spec._to_components(structure) if spec is not None else structure._component_specs
    return [(type(structure).__name__, parts)]


def _sorted_keys(mapping: abc.Mapping) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError as e:
        raise TypeError(f"nest only supports dicts with sortable keys: {e}") from e


def parts_of(structure: Structure) -> list[Structure]:
    """The values one level down, those of a dict in the order of its keys."""
    return [value for _, value in _items(structure)]


def rebuilt(structure: Structure, values: abc.Sequence) -> Structure:
    """A structure like `structure` with other values one level down."""
    kind: Any = type(structure)
    if isinstance(structure, abc.Mapping):
        by_key = dict(zip(_sorted_keys(structure), values, strict=True))
        pairs = [(key, by_key[key]) for key in structure]
        if isinstance(structure, collections.defaultdict):
            return kind(structure.default_factory, pairs)
        return kind(pairs)
    if is_attrs(structure) or _is_named_tuple(structure):
        return kind(*values)
    if isinstance(structure, abc.MappingView | range):
        return list(values)
    if is_sequence(structure):
        return kind(values)
    spec: Any = getattr(structure, "_type_spec", structure)
    return spec._from_components(values[0])


def _flatten_into(structure: Structure, is_structure: Callable[[Structure], bool], out: list[Any]) -> None:
    if not is_structure(structure):
        out.append(structure)
    else:
        for value in structure if type(structure) in (list, tuple) else parts_of(structure):
            _flatten_into(value, is_structure, out)


def flatten(structure: Structure, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, in order.

    Args:
        structure: A structure of tuples, lists, dictionaries and the like.
        expand_composites: Whether sparse and ragged tensors are taken apart, too.

    Returns:
        A list.

    Example:
        >>> tf.nest.flatten({"b": [2, 3], "a": 1})
        [1, 2, 3]
    """
    out: list[Any] = []
    _flatten_into(structure, _test(expand_composites), out)
    return out


def _short(structure: Structure) -> str:
    return f"type={type(structure).__name__} str={structure}"


def seen_type(structure: Structure) -> type:
    """The type of a structure as programs see it: a list that checkpoints follow is a list."""
    return getattr(type(structure), "_stands_for", type(structure))


def _same_named_tuple_type(a: Structure, b: Structure) -> bool:
    return _is_named_tuple(a) and _is_named_tuple(b) and type(a).__name__ == type(b).__name__ and a._fields == b._fields


def _compare(
    a: Structure,
    b: Structure,
    check_types: bool,
    is_structure: Callable[[Structure], bool],
) -> _Difference | None:
    """(exception type, words) on the first difference of two structures, or None."""
    if is_structure(a) != is_structure(b):
        deep, leaf = (a, b) if is_structure(a) else (b, a)
        return ValueError, f'Substructure "{_short(deep)}" is a sequence, while substructure "{_short(leaf)}" is not'
    if not is_structure(a):
        return None
    if _is_composite(a) and _is_composite(b):
        return _compare_composites(a, b, check_types)
    both_mappings = isinstance(a, abc.Mapping) and isinstance(b, abc.Mapping)
    same = seen_type(a) is seen_type(b) or both_mappings or _same_named_tuple_type(a, b)
    if check_types and not same:
        return TypeError, f"The two structures differ in type: {_short(a)} and {_short(b)}"
    ours, theirs = _items(a), _items(b)
    if check_types and both_mappings and set(a) != set(b):
        return ValueError, f"The two dictionaries don't have the same set of keys: {list(a)} and {list(b)}"
    if len(ours) != len(theirs):
        return ValueError, f"The two structures have different numbers of elements: {_short(a)} and {_short(b)}"
    for (_, x), (_, y) in zip(ours, theirs, strict=True):
        if found := _compare(x, y, check_types, is_structure):
            return found
    return None


def _compare_composites(a: Structure, b: Structure, check_types: bool) -> _Difference | None:
    """The difference of two values of several tensors, or specifications of such: there must be one that fits both."""
    ours: Any = getattr(a, "_type_spec", a)
    theirs: Any = getattr(b, "_type_spec", b)
    if type(ours) is not type(theirs):
        return TypeError if check_types else ValueError, f"One is of {ours!r}, the other of {theirs!r}"
    try:
        ours.most_specific_compatible_type(theirs)
    except ValueError as error:
        return ValueError, str(error)
    return None


def assert_same_structure(
    nest1: Structure,
    nest2: Structure,
    check_types: bool = True,
    expand_composites: bool = False,
) -> None:
    """Raise ValueError where two structures are nested differently, TypeError where their sequences are of different
    types.

    Args:
        nest1: One structure.
        nest2: The other.
        check_types: Whether sequences must be of the same type.
        expand_composites: Whether sparse and ragged tensors are taken apart, too.

    Returns:
        None.

    Raises:
        ValueError: If they are nested differently.
        TypeError: If their sequences are of different types.

    Example:
        >>> tf.nest.assert_same_structure([1, (2, 3)], [4, (5, 6)])
    """
    found = _compare(nest1, nest2, check_types, _test(expand_composites))
    if found:
        kind, words = found
        raise kind(
            f"The two structures are nested differently: {words}.\n\nFirst structure: {_short(nest1)}\n\nSecond structure: {_short(nest2)}"
        )


def _pack(structure: Structure, leaves: abc.Iterator, is_structure: Callable[[Structure], bool]) -> Structure:
    if not is_structure(structure):
        return next(leaves)
    return rebuilt(structure, [_pack(value, leaves, is_structure) for value in parts_of(structure)])


def pack_sequence_as(structure: Structure, flat_sequence: abc.Sequence, expand_composites: bool = False) -> Structure:
    """A structure like `structure` with the given leaves.

    Args:
        structure: A structure of tuples, lists, dictionaries and the like.
        flat_sequence: The leaves.
        expand_composites: Whether sparse and ragged tensors are taken apart, too.

    Returns:
        A structure.

    Raises:
        TypeError: If the leaves are no sequence.
        ValueError: If there are not as many leaves.

    Example:
        >>> tf.nest.pack_sequence_as([0, (0, 0)], [1, 2, 3])
        [1, (2, 3)]
    """
    is_structure = _test(expand_composites)
    if not is_structure(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    if not is_structure(structure):
        if len(flat_sequence) != 1:
            raise ValueError(f"The structure is a single value, but flat_sequence has {len(flat_sequence)}")
        return flat_sequence[0]
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence: the structure takes {wanted} values, and flat_sequence has {len(flat_sequence)}. "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence), is_structure)


def _options(kwargs: abc.Mapping[str, Any], *allowed: str) -> tuple[bool, bool]:
    unknown = set(kwargs) - set(allowed)
    if unknown:
        valid, wrong = " and ".join(f"`{name}`" for name in allowed), ", ".join(f"`{name}`" for name in sorted(unknown))
        raise ValueError(f"Only valid keyword arguments are {valid}, not: {wrong}")
    return kwargs.get("check_types", True), kwargs.get("expand_composites", False)


def _check_call(func: Any, structures: tuple[Structure, ...]) -> None:
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structures:
        raise ValueError("Must provide at least one structure")


def map_structure(func: Callable[..., Any], *structure: Structure, **kwargs: Any) -> Structure:
    """A structure of `func(leaf, leaf, ...)` over the leaves of structures that are nested alike.

    Args:
        func: The function.
        *structure: The structures.
        **kwargs: `check_types` and `expand_composites`.

    Returns:
        A structure.

    Raises:
        TypeError: If `func` is no function, or a keyword isn't known.
        ValueError: If there is no structure, or they are nested differently.

    Example:
        >>> tf.nest.map_structure(lambda x, y: x + y, [1, (2, 3)], [10, (20, 30)])
        [11, (22, 33)]
    """
    _check_call(func, structure)
    check_types, expand_composites = _options(kwargs, "check_types", "expand_composites")
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types, expand_composites)
    leaves = zip(*(flatten(s, expand_composites) for s in structure), strict=True)
    return pack_sequence_as(first, [func(*values) for values in leaves], expand_composites)


# --- paths


def _flat_paths(
    structure: Structure,
    is_structure: Callable[[Structure], bool],
    prefix: _Path = (),
) -> abc.Iterator[tuple[_Path, Any]]:
    if not is_structure(structure):
        yield prefix, structure
    else:
        for key, value in _items(structure):
            yield from _flat_paths(value, is_structure, (*prefix, key))


def yield_flat_paths(nest: Structure, expand_composites: bool = False) -> abc.Iterator[_Path]:
    """The path of each leaf, a tuple of indices and keys."""
    for path, _ in _flat_paths(nest, _test(expand_composites)):
        yield path


def flatten_with_tuple_paths(structure: Structure, expand_composites: bool = False) -> list[tuple[_Path, Any]]:
    """(path, leaf) pairs; a path is a tuple of indices and keys."""
    return list(_flat_paths(structure, _test(expand_composites)))


def flatten_with_joined_string_paths(
    structure: Structure,
    separator: str = "/",
    expand_composites: bool = False,
) -> list[tuple[str, Any]]:
    """(path, leaf) pairs; a path is text such as "a/0"."""
    return [
        (separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


def map_structure_with_paths(func: Callable[..., Any], *structure: Structure, **kwargs: Any) -> Structure:
    """As map_structure; `func` gets the path as text first."""

    def call(path: _Path, *leaves: Any, **options: Any) -> Any:
        return func("/".join(map(str, path)), *leaves, **options)

    return map_structure_with_tuple_paths(call, *structure, **kwargs)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Structure, **kwargs: Any) -> Structure:
    """As map_structure; `func` gets the path as a tuple first."""
    _check_call(func, structure)
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


# --- up to a shallower structure


# What differs, in words that programs may fill in themselves.
_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "The shallow structure goes deeper than the input, which has no parts here: it is a {}."
)
_STRUCTURES_HAVE_MISMATCHING_TYPES = "The two structures differ in sequence type: the input has a {input_type} where the shallow structure has a {shallow_type}."
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = "The two structures differ in sequence length: the input has {input_length} parts where the shallow structure has {shallow_length}."
_INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input structure is shorter ({input_size}) than the shallow structure ({shallow_size})."
)
_SHALLOW_TREE_HAS_INVALID_KEYS = "The input_tree lacks keys that the shallow_tree has: {}."


def _shallow_difference(
    shallow: Structure,
    deep: Structure,
    check_types: bool,
    is_structure: Callable[[Structure], bool],
    check_length: bool,
) -> _Difference | None:
    if not is_structure(shallow):
        return None
    if not is_structure(deep):
        return TypeError, _IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(deep))
    both_mappings = isinstance(shallow, abc.Mapping) and isinstance(deep, abc.Mapping)
    if (
        check_types
        and type(shallow) is not type(deep)
        and not _same_named_tuple_type(shallow, deep)
        and not both_mappings
        and not (type(shallow) is tuple and _is_named_tuple(deep))
    ):
        return TypeError, _STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(deep), shallow_type=type(shallow))
    shallow_items, deep_items = _items(shallow), _items(deep)
    if check_length and len(shallow_items) != len(deep_items):
        return ValueError, _STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(
            input_length=len(deep_items), shallow_length=len(shallow_items)
        )
    if len(shallow_items) > len(deep_items):
        return ValueError, _INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(
            input_size=len(deep_items), shallow_size=len(shallow_items)
        )
    if both_mappings and (absent := [key for key in shallow if key not in deep]):
        return ValueError, _SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(absent))
    for _, branch, below in _branches(shallow, deep):
        if found := _shallow_difference(branch, below, check_types, is_structure, check_length):
            return found
    return None


def _branches(shallow: Structure, deep: Structure) -> list[tuple[Any, Structure, Structure]]:
    """(key, part of shallow, part of deep) one level down: dicts are matched by key, everything else by position."""
    if isinstance(shallow, abc.Mapping) and isinstance(deep, abc.Mapping) and all(key in deep for key in shallow):
        return [(key, value, deep[key]) for key, value in _items(shallow)]
    return [(key, value, below) for (key, value), (_, below) in zip(_items(shallow), _items(deep), strict=False)]


def assert_shallow_structure(
    shallow_tree: Structure,
    input_tree: Structure,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Raise TypeError or ValueError unless `input_tree` is nested as `shallow_tree` is, and possibly deeper."""
    found = _shallow_difference(shallow_tree, input_tree, check_types, _test(expand_composites), check_subtrees_length)
    if found:
        kind, words = found
        raise kind(words)


def _up_to(
    shallow: Structure, deep: Structure, is_structure: Callable[[Structure], bool], prefix: _Path = ()
) -> abc.Iterator[tuple[_Path, Structure]]:
    if not is_structure(shallow):
        yield prefix, deep
    else:
        for key, branch, below in _branches(shallow, deep):
            yield from _up_to(branch, below, is_structure, (*prefix, key))


def flatten_with_tuple_paths_up_to(
    shallow_tree: Structure,
    input_tree: Structure,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[_Path, Structure]]:
    """(path, part) pairs of `input_tree`, taken apart only as deep as `shallow_tree` goes."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_up_to(shallow_tree, input_tree, _test(expand_composites)))


def flatten_up_to(
    shallow_tree: Structure,
    input_tree: Structure,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Structure]:
    """The parts of `input_tree`, taken apart only as deep as `shallow_tree` goes.

    >>> nest.flatten_up_to([0, 0], [[1, 2], 3])
    [[1, 2], 3]
    """
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [part for _, part in pairs]


def map_structure_up_to(
    shallow_tree: Structure,
    func: Callable[..., Any],
    *inputs: Structure,
    **kwargs: Any,
) -> Structure:
    """`func` over the parts of inputs taken apart as deep as `shallow_tree` goes; the result is nested like
    `shallow_tree`.
    """
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Structure,
    func: Callable[..., Any],
    *inputs: Structure,
    **kwargs: Any,
) -> Structure:
    """As map_structure_up_to; `func` gets the path as a tuple first."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_length = kwargs.pop("check_subtrees_length", True)
    check_types, expand_composites = _options(kwargs, "check_types", "expand_composites")
    flat = [
        flatten_with_tuple_paths_up_to(shallow_tree, tree, check_types, expand_composites, check_length)
        for tree in inputs
    ]
    results = [func(pairs[0][0], *(part for _, part in pairs)) for pairs in zip(*flat, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Structure], Structure], structure: Structure, expand_composites: bool = False
) -> Structure:
    """A shallow structure of bools: where `traverse_fn(part)` says True, it goes on below."""
    is_structure = _test(expand_composites)
    answer = traverse_fn(structure)
    if not is_structure(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        parts = [get_traverse_shallow_structure(traverse_fn, value, expand_composites) for value in parts_of(structure)]
        return rebuilt(structure, parts)
    if not is_structure(answer):
        raise TypeError(f"traverse_fn must say True or False, or give a structure of these, not {answer!r}")
    # A structure of answers, one for each part.
    assert_shallow_structure(answer, structure, expand_composites=expand_composites)
    parts = []
    for _, inner, value in _branches(answer, structure):
        if not isinstance(inner, bool):
            raise TypeError(
                f"traverse_fn must say True or False of each part, or give a structure of these one level deep, not {answer}"
            )
        parts.append(get_traverse_shallow_structure(traverse_fn, value, expand_composites) if inner else False)
    return rebuilt(structure, parts)


def flatten_dict_items(dictionary: abc.Mapping) -> abc.Mapping:
    """A dict whose keys and values are structures nested alike, as a dict of leaves.

    >>> nest.flatten_dict_items({(4, 5): ("a", "b")})
    {4: 'a', 5: 'b'}
    """
    if not isinstance(dictionary, abc.Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = ([key], [value]) if not is_sequence(key) else (flatten(key), flatten(value))
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary: a key of {len(keys)} parts has a value of {len(values)}. Key: {keys}, value: {values}."
            )
        for k, v in zip(keys, values, strict=True):
            if k in flat:
                raise ValueError(f"Could not flatten dictionary: it would have the key {k} twice.")
            flat[k] = v
    kind: Any = type(dictionary)
    return kind(flat)
