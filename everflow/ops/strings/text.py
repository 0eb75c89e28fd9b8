"""Build functions and shape rules of the string ops. Those that give ragged tensors are in `strings_ragged.py`."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, broadcast
from everflow.framework.static_values import constant_value, known_value
from everflow.ops.array.basic import rank
from everflow.ops.array.constants import constant
from everflow.ops.array.ragged_rows import looks_for_ragged, plainly, ragged_form, takes_ragged
from everflow.ops.math.sequences import range as range_of
from everflow.ops.shape_rules import like_first, scalar_output


def _either(new_value, new_name, old_value, old_name):
    """The value of an argument that goes by two names."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


def _given(value, name):
    if value is None:
        raise ValueError(f"{name} must be specified.")
    return value


# --- one string at a time ---------------------------------------------------------------------


@takes_ragged()
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Numbers as text, in C's formats.

    Args:
        input: Numbers or bools.
        precision: How many digits come after the point; -1 for C's default.
        scientific: Whether numbers are written as 1.5e+00.
        shortest: Whether the shorter of both forms is taken.
        width: The least length of the text; shorter text is filled up on the left.
        fill: What it is filled up with: a space, `0`, or `-` to fill up on the right.
        name: The name of the operation in the graph.

    Returns:
        A tensor of strings of the shape of `input`.

    Example:
        >>> sess.run(tf.as_string([1.5, 2.0], precision=2))
        array([b'1.50', b'2.00'], dtype=object)
    """
    return raw.AsString(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name
    )


@takes_ragged()
def string_strip(input, name=None):
    """Strings without the white space around them.

    Args:
        input: A tensor of strings.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.string_strip(["  a b "]))
        array([b'a b'], dtype=object)
    """
    return raw.StringStrip(input, name=name)


@takes_ragged()
def string_lower(input, encoding="", name=None):
    """Strings in lower case: only ASCII letters change unless `encoding` is "utf-8".

    Args:
        input: A tensor of strings.
        encoding: `utf-8`, or an empty string for ASCII.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.strings.lower("Hello"))
        b'hello'
    """
    return raw.StringLower(input, encoding=encoding, name=name)


@takes_ragged()
def string_upper(input, encoding="", name=None):
    """Strings in upper case: only ASCII letters change unless `encoding` is "utf-8".

    Args:
        input: A tensor of strings.
        encoding: `utf-8`, or an empty string for ASCII.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.strings.upper("Hello"))
        b'HELLO'
    """
    return raw.StringUpper(input, encoding=encoding, name=name)


@takes_ragged()
def string_length(input, name=None, unit="BYTE"):
    """How long strings are, in bytes or (`unit="UTF8_CHAR"`) characters.

    Args:
        input: A tensor of strings.
        name: The name of the operation in the graph.
        unit: What is counted: `BYTE` or `UTF8_CHAR`.

    Returns:
        Numbers of the same shape, int32.

    Example:
        >>> sess.run(tf.strings.length(["a", "hello"]))
        array([1, 5], dtype=int32)
    """
    return raw.StringLength(input, unit=unit, name=name)


@takes_ragged()
def substr(input, pos, len, name=None, unit="BYTE"):
    """Parts of strings from `pos` (negative: from the end) of at most `len` bytes or characters.

    Args:
        input: A tensor of strings.
        pos: Where the part begins; negative ones count from the end.
        len: How long it is at most.
        name: The name of the operation in the graph.
        unit: What is counted: `BYTE` or `UTF8_CHAR`.

    Returns:
        Strings.

    Example:
        >>> sess.run(tf.substr(["hello", "world"], 1, 3))
        array([b'ell', b'orl'], dtype=object)
    """
    return raw.Substr(input, pos, len, unit=unit, name=name)


@takes_ragged()
def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    """The numbers that strings spell.

    Args:
        string_tensor: Strings.
        out_type: The type of the numbers.
        name: The name of the operation in the graph.
        input: Another name of `string_tensor`.

    Returns:
        Numbers of the same shape.

    Raises:
        InvalidArgumentError: When it runs, if a string spells no number.

    Example:
        >>> sess.run(tf.string_to_number(["1.5", "-2"]))
        array([ 1.5, -2. ], dtype=float32)
    """
    string_tensor = _given(_either(input, "input", string_tensor, "string_tensor"), "string_tensor")
    return raw.StringToNumber(string_tensor, out_type=out_type, name=name)


@takes_ragged()
def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    """Bucket numbers of strings, by an old hash that may change between machines.

    Args:
        string_tensor: Strings.
        num_buckets: How many buckets there are.
        name: The name of the operation in the graph.
        input: Another name of `string_tensor`.

    Returns:
        Numbers of the same shape, int64.

    Example:
        >>> sess.run(tf.string_to_hash_bucket(["a"], 10)).shape
        (1,)
    """
    string_tensor = _given(_either(input, "input", string_tensor, "string_tensor"), "string_tensor")
    return raw.StringToHashBucket(string_tensor, num_buckets=_given(num_buckets, "num_buckets"), name=name)


@takes_ragged()
def string_to_hash_bucket_fast(input, num_buckets, name=None):
    """Bucket numbers of strings, by a fast hash that never changes.

    Args:
        input: A tensor of strings.
        num_buckets: How many buckets there are.
        name: The name of the operation in the graph.

    Returns:
        Numbers of the same shape, int64.

    Example:
        >>> sess.run(tf.string_to_hash_bucket_fast(["a", "b"], 10))
        array([9, 2])
    """
    return raw.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


@takes_ragged()
def string_to_hash_bucket_strong(input, num_buckets, key, name=None):
    """Bucket numbers of strings, by a keyed hash that an opponent can't steer.

    Args:
        input: A tensor of strings.
        num_buckets: How many buckets there are.
        key: Two whole numbers that nobody else knows.
        name: The name of the operation in the graph.

    Returns:
        Numbers of the same shape, int64.

    Example:
        >>> sess.run(tf.string_to_hash_bucket_strong(["a", "b"], 10, [1, 2]))
        array([6, 4])
    """
    return raw.StringToHashBucketStrong(input, num_buckets=num_buckets, key=key, name=name)


@takes_ragged()
def encode_base64(input, pad=False, name=None):
    """Bytes in the web-safe base 64 alphabet, with `=` at the end where asked for.

    Args:
        input: Strings.
        pad: Whether `=` fills the text up to a multiple of four.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.encode_base64("hi"))
        b'aGk'
    """
    return raw.EncodeBase64(input, pad=pad, name=name)


@takes_ragged()
def decode_base64(input, name=None):
    """The bytes of web-safe base 64 text.

    Args:
        input: Strings.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.decode_base64("aGk"))
        b'hi'
    """
    return raw.DecodeBase64(input, name=name)


def fingerprint(data, method="farmhash64", name=None):
    """An 8-byte fingerprint of each row of a tensor.

    Args:
        data: The tensor; its first axis counts rows.
        method: The hash: `farmhash64`.
        name: The name of the operation in the graph.

    Returns:
        A tensor [rows, 8] of uint8.

    Example:
        >>> sess.run(tf.fingerprint(["a"])).shape
        (1, 8)
    """
    return raw.Fingerprint(data, method, name=name)


@takes_ragged()
def regex_full_match(input, pattern, name=None):
    """Whether strings match a pattern (RE2's syntax) from end to end.

    Args:
        input: A tensor of strings.
        pattern: A regular expression of RE2.
        name: The name of the operation in the graph.

    Returns:
        Bools of the same shape.

    Example:
        >>> sess.run(tf.strings.regex_full_match(["abc", "abcd"], "a.c"))
        array([ True, False])
    """
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)


@takes_ragged()
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Strings in which matches of a pattern are replaced; in `rewrite`, a backslash and a number stand for a group.

    Args:
        input: A tensor of strings.
        pattern: A regular expression of RE2.
        rewrite: What takes the place of a match.
        replace_global: Whether all matches are replaced; else the first.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.regex_replace(["a-b"], "[a-z]", "x"))
        array([b'x-x'], dtype=object)
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return raw.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


# --- joining, splitting, formatting -----------------------------------------------------------


@looks_for_ragged
def string_join(inputs, separator="", name=None):
    """Strings of several tensors joined element by element; scalars go with each.

    Args:
        inputs: A list of tensors of strings, of one shape or scalars.
        separator: What is put between them.
        name: The name of the operation in the graph.

    Returns:
        A tensor of strings.

    Example:
        >>> sess.run(tf.string_join([["a", "b"], "x"], separator="-"))
        array([b'a-x', b'b-x'], dtype=object)
    """

    def join(parts):
        return raw.StringJoin(parts, separator=separator, name=name)

    if form := ragged_form("elementwise", *inputs):
        plainly(join, inputs)
        return form(join, [inputs], (), {})
    return join(inputs)


@looks_for_ragged
def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Strings joined along axes, in the order in which these are given; along all of them by default.

    Args:
        inputs: Strings.
        axis: The axis or axes to join along, in this order; all of them if None.
        keep_dims: An older name of `keepdims`.
        separator: What is put between them.
        name: The name of the operation in the graph.
        reduction_indices: An older name of `axis`.
        keepdims: Whether axes that are reduced stay, with the length 1.

    Returns:
        A tensor without these axes.

    Example:
        >>> sess.run(tf.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-"))
        array([b'a-b', b'c-d'], dtype=object)
    """
    keep_dims = _either(keepdims, "keepdims", keep_dims, "keep_dims")
    axis = _either(axis, "axis", reduction_indices, "reduction_indices")

    def plain():
        with name_scope(None, "ReduceJoin", [inputs, axis]):
            strings = convert_to_tensor(inputs)
            axes = _all_axes(strings) if axis is None else axis
            return raw.ReduceJoin(strings, axes, keep_dims=bool(keep_dims), separator=separator, name=name)

    if form := ragged_form("reduce_join", inputs):
        plainly(plain)
        return form(inputs, axis, keep_dims, separator, name)
    return plain()


def _all_axes(inputs):
    """All axes, the last one first."""
    if inputs.shape.ndims is not None:
        return constant(list(range(inputs.shape.ndims))[::-1], dtype=dtypes.int32)
    return range_of(rank(inputs) - 1, -1, -1)


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """The strings of each segment joined.

    Args:
        inputs: The strings.
        segment_ids: The segment that each belongs to.
        num_segments: How many segments there are.
        separator: What is put between strings.
        name: The name of the operation in the graph.

    Returns:
        A string for each segment.

    Example:
        >>> sess.run(tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, separator="-"))
        array([b'b', b'a-c'], dtype=object)
    """
    return raw.UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator=separator, name=name)


def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """The pieces of each string between any of the delimiter's characters, as a sparse (or ragged) matrix.

    Args:
        source: A vector of strings.
        sep: The characters that separate pieces; a space if None, an empty string for every byte.
        skip_empty: Whether empty pieces are left out.
        delimiter: An older name of `sep`.
        result_type: `SparseTensor` or `RaggedTensor`.
        name: The name of the operation in the graph.

    Returns:
        A SparseTensor or RaggedTensor of two dimensions.

    Raises:
        ValueError: If `result_type` is something else, or both names of the separator are given.

    Example:
        >>> sess.run(tf.string_split(["hello world", "a b c"])).values
        array([b'hello', b'world', b'a', b'b', b'c'], dtype=object)
    """
    sep = _either(sep, "sep", delimiter, "delimiter")
    with name_scope(name, "StringSplit", [source]):
        delimiter = constant(" " if sep is None else sep, dtype=dtypes.string)
        source = convert_to_tensor(source, dtype=dtypes.string)
        indices, values, shape = raw.StringSplit(source, delimiter, skip_empty=skip_empty)
        indices.set_shape([None, 2])
        values.set_shape([None])
        shape.set_shape([2])
        sparse = SparseTensor(indices, values, shape)
        if result_type == "SparseTensor":
            return sparse
        if result_type == "RaggedTensor":
            from everflow.ops.strings.ragged import ragged_rows  # builds on this module

            return ragged_rows(sparse)
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def string_split_v2(source, sep=None, maxsplit=-1):
    """The pieces of each string around a separator, or around white space, as a sparse matrix."""
    sep = constant("" if sep is None else sep, dtype=dtypes.string)
    indices, values, shape = raw.StringSplitV2(source, sep, maxsplit=maxsplit)
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """A string with tensors' values in place of the placeholders.

    Args:
        template: The text with placeholders.
        inputs: The tensors.
        placeholder: What stands for a tensor.
        summarize: How many entries at each end of a tensor are shown; -1 for all.
        name: The name of the operation in the graph.

    Returns:
        A scalar string.

    Raises:
        ValueError: If there are not as many placeholders as tensors.

    Example:
        >>> sess.run(tf.strings.format("step {}: {}", (tf.constant(3), tf.constant([0.5, 0.25]))))
        b'step 3: [0.5 0.25]'
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    count = template.count(placeholder)
    if count != len(inputs):
        raise ValueError(f"The template has {count} placeholders {placeholder!r}, but {len(inputs)} tensors were given")
    return raw.StringFormat(list(inputs), template=template, placeholder=placeholder, summarize=summarize, name=name)


# --- Unicode ----------------------------------------------------------------------------------


@takes_ragged()
def unicode_transcode(
    input,
    input_encoding,
    output_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    r"""Text in another encoding: UTF-8, UTF-16-BE or UTF-32-BE.

    Args:
        input: A tensor of strings.
        input_encoding: How the text is encoded: `UTF-8`, `UTF-16-BE` or `UTF-32-BE`.
        output_encoding: The encoding of the result.
        errors: What to do with text that isn't valid: `strict`, `replace` or `ignore`.
        replacement_char: The code point that stands for what isn't valid.
        replace_control_characters: Whether control characters are replaced, too.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> sess.run(tf.strings.unicode_transcode("hi", "UTF-8", "UTF-16-BE"))
        b'\x00h\x00i'
    """
    return raw.UnicodeTranscode(**locals())


@takes_ragged()
def unicode_script(input, name=None):
    """The number of the script (Latin, Han, …) that code points belong to.

    Args:
        input: Code points.
        name: The name of the operation in the graph.

    Returns:
        Numbers of the same shape; -1 where there is none.

    Example:
        >>> sess.run(tf.strings.unicode_script([ord("a"), ord("水")]))
        array([25, 17], dtype=int32)
    """
    return raw.UnicodeScript(input, name=name)


# --- shapes -----------------------------------------------------------------------------------


shape_rule(
    "AsString",
    "StringStrip",
    "StringLower",
    "StringUpper",
    "StringLength",
    "StringToNumber",
    "StringToHashBucket",
    "StringToHashBucketFast",
    "StringToHashBucketStrong",
    "EncodeBase64",
    "DecodeBase64",
    "StaticRegexFullMatch",
    "StaticRegexReplace",
    "UnicodeTranscode",
    "UnicodeScript",
)(like_first)


@shape_rule("RegexFullMatch", "RegexReplace")
def _regex_shape(op):
    for scalar in op.inputs[1:]:
        scalar.shape.with_rank(0)
    return op.inputs[0].shape


@shape_rule("Substr")
def _substr_shape(op):
    strings, pos, length = (t.shape for t in op.inputs)
    pos = pos.merge_with(length)
    return broadcast(strings, pos)


@shape_rule("StringJoin")
def _join_shape(op):
    shapes = [t.shape for t in op.inputs if t.shape.ndims != 0]
    if not shapes:
        return TensorShape([])
    shape = TensorShape(None)
    for other in shapes:
        shape = shape.merge_with(other)
    return shape


@shape_rule("ReduceJoin")
def _reduce_join_shape(op):
    inputs, axes = op.inputs[0].shape, constant_value(op.inputs[1])
    if inputs.ndims is None:
        return None
    if axes is None:
        return TensorShape([None] * inputs.ndims) if op.attrs["keep_dims"] else None
    joined = set()
    for axis in axes.ravel().tolist():
        if not -inputs.ndims <= axis < inputs.ndims:
            raise ValueError(f"Invalid reduction dimension {axis} for input with {inputs.ndims} dimensions.")
        joined.add(axis % inputs.ndims)
    if op.attrs["keep_dims"]:
        return TensorShape([1 if i in joined else d for i, d in enumerate(inputs.dims)])
    return TensorShape([d for i, d in enumerate(inputs.dims) if i not in joined])


@shape_rule("UnsortedSegmentJoin")
def _segment_join_shape(op):
    inputs, ids = op.inputs[0].shape, op.inputs[1].shape
    op.inputs[2].shape.with_rank(0)
    if inputs.ndims is None or ids.ndims is None:
        return None
    inputs[: ids.ndims].merge_with(ids)
    count = known_value(op.inputs[2])
    return TensorShape([None if count is None else int(count)]).concatenate(inputs[ids.ndims :])


@shape_rule("StringSplit", "StringSplitV2")
def _split_shape(op):
    op.inputs[0].shape.with_rank(1)
    op.inputs[1].shape.with_rank(0)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


shape_rule("StringFormat")(scalar_output)


@shape_rule("StringNGrams")
def _ngrams_shape(op):
    op.inputs[0].shape.with_rank(1)
    return [TensorShape([None]), op.inputs[1].shape.with_rank(1)]


@shape_rule("Fingerprint")
def _fingerprint_shape(op):
    data = op.inputs[0].shape.with_rank_at_least(1)
    op.inputs[1].shape.with_rank(0)
    method = constant_value(op.inputs[1])
    if method is not None and method.item() != b"farmhash64":
        raise ValueError(f"Unsupported method: {method.item().decode()}")
    return TensorShape([data[0] if data.ndims is not None else None, 8])


@shape_rule("UnicodeEncode")
def _unicode_encode_shape(op):
    op.inputs[0].shape.with_rank(1)
    splits = op.inputs[1].shape.with_rank(1).size(0)
    return TensorShape([None if splits is None else splits - 1])


@shape_rule("UnicodeDecode", "UnicodeDecodeWithOffsets")
def _unicode_decode_shape(op):
    count = op.inputs[0].shape.num_elements()
    rest = [TensorShape([None])] * (2 if op.type == "UnicodeDecodeWithOffsets" else 1)
    return [TensorShape([None if count is None else count + 1]), *rest]


not_differentiable(
    "AsString",
    "DecodeBase64",
    "EncodeBase64",
    "ReduceJoin",
    "RegexReplace",
    "StringJoin",
    "StringSplit",
    "StringToHashBucket",
    "StringToHashBucketFast",
    "StringToHashBucketStrong",
    "StringToNumber",
)
