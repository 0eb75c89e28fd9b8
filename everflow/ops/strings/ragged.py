"""String ops whose results are ragged: splitting, n-grams, and text as code points."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes, static_values
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.ops.array.basic import reshape
from everflow.ops.array.basic import shape as shape_of
from everflow.ops.array.joining import concat, stack
from everflow.ops.ragged.functions import expand_dims as ragged_expand_dims
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.strings.text import string_split_v2


def ragged_rows(sparse):
    """A sparse matrix without gaps as a ragged one."""
    return RaggedTensor.from_value_rowids(
        values=sparse.values, value_rowids=sparse.indices[:, 0], nrows=sparse.dense_shape[0], validate=False
    )


# --- splitting --------------------------------------------------------------------------------


def strings_split_v1(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """The pieces of each string around a separator (white space by default), as a sparse or ragged tensor.

    Args:
        input: A tensor of strings.
        sep: What separates pieces; white space if None.
        maxsplit: The most cuts; -1 for any number.
        result_type: `SparseTensor` or `RaggedTensor`.
        source: An older name of `input`.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor or RaggedTensor with one dimension more.

    Raises:
        ValueError: If `result_type` is something else.

    Example:
        >>> sess.run(tf.strings.split(["a b", "c"], result_type="RaggedTensor")).to_list()
        [[b'a', b'b'], [b'c']]
    """
    if source is not None:
        if input is not None:
            raise ValueError("Cannot specify both 'source' and 'input'")
        input = source
    with name_scope(name, "StringSplit", [input]):
        input = as_ragged_or_tensor(input, dtype=dtypes.string, name="input")
        if result_type == "SparseTensor" and input.shape.ndims == 1:
            return string_split_v2(input, sep, maxsplit)
        ragged = strings_split(input, sep, maxsplit)
        if result_type == "SparseTensor":
            return ragged.to_sparse()
        if result_type == "RaggedTensor":
            return ragged
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _with_rows_of(strings, ragged):
    """A ragged tensor of which it is known that it has a row for each of some strings."""
    count = strings.shape.size(0) if strings.shape.ndims else None
    if count is not None:
        ragged.row_splits.set_shape([count + 1])
    return ragged


def strings_split(input, sep=None, maxsplit=-1, name=None):
    """The pieces of each string around a separator (white space by default), as a ragged tensor; those of a scalar as a
    vector.

    Args:
        input: A tensor of strings.
        sep: What separates pieces; white space if None.
        maxsplit: The most cuts; -1 for any number.
        name: The name of the operation in the graph.

    Returns:
        A RaggedTensor with one dimension more.

    Example:
        >>> sess.run(tf.compat.v2.strings.split(["a b", "c"])).to_list()
        [[b'a', b'b'], [b'c']]
    """
    with name_scope(name, "StringSplit", [input]):
        input = as_ragged_or_tensor(input, dtype=dtypes.string, name="input")
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(strings_split(input.flat_values, sep, maxsplit))
        rank = input.shape.ndims
        if rank == 0:
            return strings_split(stack([input]), sep, maxsplit)[0]
        if rank in (1, None):
            return _with_rows_of(input, ragged_rows(string_split_v2(input, sep, maxsplit)))
        return strings_split(RaggedTensor.from_tensor(input), sep, maxsplit)


def string_bytes_split(input, name=None):
    """The bytes of each string.

    Args:
        input: A tensor of strings.
        name: The name of the operation in the graph.

    Returns:
        A RaggedTensor with one dimension more.

    Raises:
        ValueError: If the rank isn't known.

    Example:
        >>> sess.run(tf.strings.bytes_split(["abc", "d"])).to_list()
        [[b'a', b'b', b'c'], [b'd']]
    """
    with name_scope(name, "StringsByteSplit", [input]):
        input = as_ragged_or_tensor(input, name="input")
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(string_bytes_split(input.flat_values))
        rank = input.shape.ndims
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return string_bytes_split(stack([input]))[0]
        if rank == 1:
            indices, values, shape = raw.StringSplit(input, "", skip_empty=False)
            made = RaggedTensor.from_value_rowids(
                values=values, value_rowids=indices[:, 0], nrows=shape[0], validate=False
            )
            return _with_rows_of(input, made)
        return string_bytes_split(RaggedTensor.from_tensor(input, ragged_rank=rank - 1))


# --- n-grams ----------------------------------------------------------------------------------


def _pads(pad_values):
    """What is put to the left and to the right of each row."""
    if pad_values is None:
        return "", ""
    pads = tuple(pad_values) if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if len(pads) != 2 or not all(isinstance(pad, (str, bytes)) for pad in pads):
        raise TypeError(f"pad_values must be a string, or one for the left and one for the right, not {pad_values!r}")
    return pads


def ngrams(
    data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None
):
    """Each run of `ngram_width` strings of a row, joined.

    Args:
        data: Strings, the last axis being a row.
        ngram_width: How many strings make one; a list for several widths.
        separator: What is put between strings.
        pad_values: What is put before and after each row; a pair for two different ones.
        padding_width: How many of them; one less than the width if None.
        preserve_short_sequences: Whether rows that are too short give one of what they have.
        name: The name of the operation in the graph.

    Returns:
        Strings, ragged where the rows are.

    Raises:
        ValueError: If a width is not positive.
        TypeError: If `pad_values` isn't of that form.

    Example:
        >>> sess.run(tf.strings.ngrams(["a", "b", "c"], 2))
        array([b'a b', b'b c'], dtype=object)
    """
    with name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("padding_width is the number of pad_values, which are missing")
        data = as_ragged_or_tensor(data, name="data", dtype=dtypes.string)
        options = (ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
        dense = not isinstance(data, RaggedTensor)
        if dense:
            rank = data.shape.ndims
            if rank is None:
                raise ValueError("Rank of data must be known.")
            if rank == 0:
                raise ValueError("Data must have rank>0")
            dense_shape = concat([shape_of(data)[:-1], [-1]], axis=0)
            if rank == 1:
                return ngrams(RaggedTensor.from_row_starts(data, [0], validate=False), *options)[0]
            data = RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
        if data.ragged_rank > 1:
            result = data.with_values(ngrams(data.values, *options))
            return reshape(result.flat_values, dense_shape) if dense else result
        if pad_values is None:
            padding_width = 0
        elif padding_width is None:
            padding_width = -1
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        for width in widths:
            if width < 1:
                raise ValueError(f"n-grams are of one string or more; got ngram_width={ngram_width}")
        values, splits = raw.StringNGrams(
            data.flat_values,
            data.row_splits,
            separator=separator,
            ngram_widths=widths,
            left_pad=left,
            right_pad=right,
            pad_width=padding_width,
            preserve_short_sequences=preserve_short_sequences,
        )
        result = RaggedTensor.from_row_splits(values, splits, validate=False)
        return reshape(result.flat_values, dense_shape) if dense else result


# --- code points ------------------------------------------------------------------------------


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Code points along the last axis as strings.

    Args:
        input: Code points [..., points], ragged or not.
        output_encoding: The encoding of the result.
        errors: What to do with text that isn't valid: `strict`, `replace` or `ignore`.
        replacement_char: The code point that stands for what isn't valid.
        name: The name of the operation in the graph.

    Returns:
        Strings [...].

    Raises:
        ValueError: If the rank isn't known.

    Example:
        >>> sess.run(tf.strings.unicode_encode([104, 233], "UTF-8")).decode()
        'hé'
    """
    with name_scope(name, "UnicodeEncode", [input]):
        points = as_ragged_or_tensor(input)
        options = (output_encoding, errors, replacement_char)
        if points.shape.ndims is None:
            raise ValueError("The rank of the code points must be known; give them a shape (set_shape)")
        if isinstance(points, RaggedTensor):
            if points.flat_values.shape.ndims > 1:
                return points.with_flat_values(unicode_encode(points.flat_values, *options))
            if points.ragged_rank > 1:
                return points.with_values(unicode_encode(points.values, *options))
            return raw.UnicodeEncode(
                points.values,
                points.row_splits,
                output_encoding=output_encoding,
                errors=errors,
                replacement_char=replacement_char,
            )
        rank = points.shape.ndims
        if rank == 0:
            raise ValueError("A single code point is no string: give a vector at least")
        if rank == 1:
            rows = RaggedTensor.from_row_splits(
                points, stack([0, shape_of(points, out_type=dtypes.int32)[0]]), validate=False
            )
            return reshape(unicode_encode(rows, *options), [])
        if rank == 2:
            return unicode_encode(RaggedTensor.from_tensor(points), *options)
        flat = reshape(points, stack([-1, shape_of(points)[-1]]))
        return reshape(unicode_encode(flat, *options), points.shape[:-1])


def _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, with_offsets):
    """(code points, offsets or None) of text, ragged along the last axis."""
    input = as_ragged_or_tensor(input, name="input")
    rank = input.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        if not isinstance(input, RaggedTensor):
            input = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
        elif input.ragged_rank < rank - 1:
            inner = RaggedTensor.from_tensor(input.flat_values, ragged_rank=rank - input.ragged_rank + 1)
            input = input.with_flat_values(inner)
    flat = reshape(input.flat_values if isinstance(input, RaggedTensor) else input, [-1])
    decode = raw.UnicodeDecodeWithOffsets if with_offsets else raw.UnicodeDecode
    found = decode(
        flat,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )

    def shaped(values):
        if rank == 0:
            return values
        rows = RaggedTensor.from_row_splits(values, found.row_splits, validate=False)
        return input.with_flat_values(rows) if rank > 1 else rows

    return shaped(found.char_values), shaped(found.char_to_byte_starts) if with_offsets else None


def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=0xFFFD,
    replace_control_characters=False,
    name=None,
):
    """The code points of each string.

    Args:
        input: A tensor of strings.
        input_encoding: How the text is encoded: `UTF-8`, `UTF-16-BE` or `UTF-32-BE`.
        errors: What to do with text that isn't valid: `strict`, `replace` or `ignore`.
        replacement_char: The code point that stands for what isn't valid.
        replace_control_characters: Whether control characters are replaced, too.
        name: The name of the operation in the graph.

    Returns:
        Code points, ragged.

    Example:
        >>> sess.run(tf.strings.unicode_decode(["héllo".encode()], "UTF-8")).to_list()
        [[104, 233, 108, 108, 111]]
    """
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, False)[0]


def unicode_decode_with_offsets(
    input,
    input_encoding,
    errors="replace",
    replacement_char=0xFFFD,
    replace_control_characters=False,
    name=None,
):
    """The code points of each string, and where in it they begin.

    Args:
        input: A tensor of strings.
        input_encoding: How the text is encoded: `UTF-8`, `UTF-16-BE` or `UTF-32-BE`.
        errors: What to do with text that isn't valid: `strict`, `replace` or `ignore`.
        replacement_char: The code point that stands for what isn't valid.
        replace_control_characters: Whether control characters are replaced, too.
        name: The name of the operation in the graph.

    Returns:
        Code points and offsets, ragged.

    Example:
        >>> points, offsets = tf.strings.unicode_decode_with_offsets(["héllo".encode()], "UTF-8")
        >>> sess.run(offsets).to_list()
        [[0, 1, 3, 4, 5]]
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, True)


def unicode_split(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """The characters of each string, each a string of its own.

    Args:
        input: A tensor of strings.
        input_encoding: How the text is encoded: `UTF-8`, `UTF-16-BE` or `UTF-32-BE`.
        errors: What to do with text that isn't valid: `strict`, `replace` or `ignore`.
        replacement_char: The code point that stands for what isn't valid.
        name: The name of the operation in the graph.

    Returns:
        Strings, ragged.

    Example:
        >>> [c.decode() for c in sess.run(tf.strings.unicode_split("héy".encode(), "UTF-8"))]
        ['h', 'é', 'y']
    """
    with name_scope(name, "UnicodeSplit", [input]):
        points, _ = _decoded(input, input_encoding, errors, replacement_char, False, False)
        return unicode_encode(ragged_expand_dims(points, -1), input_encoding, errors, replacement_char)


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """The characters of each string, and where in it they begin.

    Args:
        input: A tensor of strings.
        input_encoding: How the text is encoded: `UTF-8`, `UTF-16-BE` or `UTF-32-BE`.
        errors: What to do with text that isn't valid: `strict`, `replace` or `ignore`.
        replacement_char: The code point that stands for what isn't valid.
        name: The name of the operation in the graph.

    Returns:
        Strings and offsets, ragged.

    Example:
        >>> characters, offsets = tf.strings.unicode_split_with_offsets("héy".encode(), "UTF-8")
        >>> sess.run(offsets)
        array([0, 1, 3])
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, offsets = _decoded(input, input_encoding, errors, replacement_char, False, True)
        return unicode_encode(ragged_expand_dims(points, -1), input_encoding, errors, replacement_char), offsets


def _known_characters(op, strings):
    """What decoding gives of strings that are known before running and well-formed: row splits, characters, offsets."""
    codec = op.attrs["input_encoding"].decode().lower()
    if codec not in ("utf-8", "utf-16-be", "utf-32-be") or op.attrs["replace_control_characters"]:
        raise ValueError("how other encodings and control characters are read is left to the run")
    rows = [s.decode(codec) for s in strings.ravel()]
    sizes = [[len(character.encode(codec)) for character in row] for row in rows]
    starts = [start for row in sizes for start in np.cumsum([0, *row])[:-1]]
    return [np.cumsum([0, *map(len, rows)]), np.array([ord(c) for row in rows for c in row], np.int32), starts]


static_values.SPLITTERS.update(UnicodeDecode=_known_characters, UnicodeDecodeWithOffsets=_known_characters)
