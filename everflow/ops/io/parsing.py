"""Build functions and shape rules of ops that parse bytes: raw numbers, CSV, compressed data, tensors.

Examples and their features are in `parsing_examples.py`.
"""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops.shape_rules import like_first, scalar_output


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings as numbers; all strings must be of one length.

    Args:
        input_bytes: Strings, all of one length.
        out_type: The type of the numbers.
        little_endian: Whether the lowest byte of a number comes first.
        name: The name of the operation in the graph.
        bytes: An older name of `input_bytes`.

    Returns:
        A tensor with one axis more than `input_bytes`.

    Raises:
        ValueError: If both names of the strings are given, or neither.

    Example:
        >>> sess.run(tf.decode_raw([b"ab", b"cd"], tf.uint8))
        array([[ 97,  98],
               [ 99, 100]], dtype=uint8)
    """
    if bytes is not None:
        if input_bytes is not None:
            raise ValueError("Cannot specify both 'bytes' and 'input_bytes'")
        input_bytes = bytes
    if out_type is None:
        raise ValueError("decode_raw() wants an out_type, the dtype of what the bytes hold")
    return raw.DecodeRaw(input_bytes, out_type=out_type, little_endian=little_endian, name=name)


def decode_raw_v2(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """As `decode_raw`; with `fixed_length`, strings are filled with zeros, or cut, to so many bytes."""
    settings = {"out_type": out_type, "little_endian": little_endian, "name": name}
    if fixed_length is None:
        return raw.DecodeRaw(input_bytes, **settings)
    return raw.DecodePaddedRaw(input_bytes, fixed_length=fixed_length, **settings)


def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    name=None,
    na_value="",
    select_cols=None,
):
    """Lines of comma-separated values as one tensor for each column.

    A default of length 0 makes a column required.

    Args:
        records: The lines.
        record_defaults: For each column a list with its default, which also says its type; an empty one of a type makes
            it required.
        field_delim: What separates columns.
        use_quote_delim: Whether quotes hold text with separators together.
        name: The name of the operation in the graph.
        na_value: Text that counts as missing, too.
        select_cols: The numbers of the columns to read, ascending; all if None.

    Returns:
        A list of tensors, one for each column, of the shape of `records`.

    Raises:
        TypeError: If `record_defaults` is no list.
        ValueError: If `select_cols` are not ascending, or are not as many as the defaults.

    Example:
        >>> age, name = tf.decode_csv(["36,Ada", ",Alan"], [[0], [""]])
        >>> sess.run([age, name])
        [array([36,  0], dtype=int32), array([b'Ada', b'Alan'], dtype=object)]
    """
    if not isinstance(record_defaults, (list, tuple)):
        raise TypeError(f"record_defaults is a list with a default for each column, not {record_defaults!r}")
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError(f"{len(select_cols)} select_cols want as many record_defaults; got {len(record_defaults)}")
    return raw.DecodeCSV(
        records,
        list(record_defaults),
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols or [],
        name=name,
    )


def decode_compressed(bytes, compression_type="", name=None):
    """Strings that were compressed ("ZLIB" or "GZIP"), expanded.

    Args:
        bytes: Strings.
        compression_type: `GZIP`, `ZLIB`, or an empty string for none.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape.

    Example:
        >>> import zlib
        >>> sess.run(tf.decode_compressed(zlib.compress(b"hello"), "ZLIB"))
        b'hello'
    """
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples, name=None):
    """Examples written in JSON, in their binary form.

    Args:
        json_examples: Strings.
        name: The name of the operation in the graph.

    Returns:
        Strings of the same shape, for `tf.parse_example`.

    Example:
        >>> binary = tf.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": [1]}}}}}')
        >>> tf.train.Example.FromString(sess.run(binary)).features.feature["a"].int64_list.value[0]
        1
    """
    return raw.DecodeJSONExample(json_examples, name=name)


def serialize_tensor(tensor, name=None):
    """A tensor as a string, the bytes of a TensorProto.

    Args:
        tensor: The tensor.
        name: The name of the operation in the graph.

    Returns:
        A scalar string.

    Example:
        >>> sess.run(tf.parse_tensor(tf.serialize_tensor([1, 2]), tf.int32))
        array([1, 2], dtype=int32)
    """
    return raw.SerializeTensor(tensor, name=name)


def parse_tensor(serialized, out_type, name=None):
    """A tensor from the bytes of a TensorProto.

    Args:
        serialized: The bytes, a scalar string.
        out_type: The type that the tensor must have.
        name: The name of the operation in the graph.

    Returns:
        A tensor of unknown shape.

    Example:
        >>> sess.run(tf.parse_tensor(tf.serialize_tensor([1, 2]), tf.int32))
        array([1, 2], dtype=int32)
    """
    return raw.ParseTensor(serialized, out_type=out_type, name=name)


def decode_proto(
    bytes,
    message_type,
    field_names,
    output_types,
    descriptor_source="local://",
    message_format="binary",
    sanitize=False,
    name=None,
):
    """Fields of serialized protocol buffers: how many values each has, and the values, padded.

    Args:
        bytes: Serialized messages.
        message_type: The full name of the message.
        field_names: The fields.
        output_types: The type of each field.
        descriptor_source: `local://` for messages that this process knows, a file with descriptors, or `bytes://` and
            descriptors.
        message_format: `binary` or `text`.
        sanitize: Whether fields that are not known are left out of messages in results.
        name: The name of the operation in the graph.

    Returns:
        How many values each field has, [..., fields], and a tensor [..., most values] for each field.

    Example:
        >>> data = tf.train.Int64List(value=[3, 5]).SerializeToString()
        >>> sizes, (values,) = tf.io.decode_proto([data], "tensorflow.Int64List", ["value"], [tf.int64])
        >>> sess.run([sizes, values])
        [array([[2]], dtype=int32), array([[3, 5]])]
    """
    return raw.DecodeProtoV2(**locals())


def encode_proto(sizes, values, field_names, message_type, descriptor_source="local://", name=None):
    """Serialized protocol buffers with the first `sizes` of each field's values.

    Args:
        sizes: How many values each field has: [..., fields].
        values: A tensor [..., most values] for each field.
        field_names: The fields.
        message_type: The full name of the message.
        descriptor_source: `local://` for messages that this process knows, a file with descriptors, or `bytes://` and
            descriptors.
        name: The name of the operation in the graph.

    Returns:
        Serialized messages.

    Example:
        >>> data = tf.io.encode_proto([[2]], [tf.constant([[3, 5]], tf.int64)], ["value"], "tensorflow.Int64List")
        >>> list(tf.train.Int64List.FromString(sess.run(data)[0]).value)
        [3, 5]
    """
    return raw.EncodeProto(**locals())


@shape_rule("DecodeRaw")
def _decode_raw_shape(op):
    return op.inputs[0].shape.concatenate(TensorShape([None]))


@shape_rule("DecodePaddedRaw")
def _decode_padded_raw_shape(op):
    op.inputs[1].shape.with_rank(0)
    size = constant_value(op.inputs[1])
    width = op.attrs["out_type"].size
    if size is None:
        return op.inputs[0].shape.concatenate(TensorShape([None]))
    if int(size) % width:
        raise ValueError(f"Dimension size must be evenly divisible by {width} but is {int(size)}")
    return op.inputs[0].shape.concatenate(TensorShape([int(size) // width]))


@shape_rule("DecodeCSV")
def _decode_csv_shape(op):
    for default in op.inputs[1:]:
        shape = default.shape.with_rank_at_most(1)
        if shape.ndims == 1 and shape.size(0) is not None and shape.size(0) > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [op.inputs[0].shape] * len(op.outputs)


shape_rule("DecodeCompressed", "DecodeJSONExample")(like_first)


@shape_rule("DecodeProtoV2")
def _decode_proto_shape(op):
    batch = op.inputs[0].shape
    fields = op.attrs["field_names"]
    outputs = len(op.attrs["output_types"])
    return [batch.concatenate(TensorShape([len(fields)])), *[batch.concatenate(TensorShape([None]))] * outputs]


@shape_rule("EncodeProto")
def _encode_proto_shape(op):
    batch = op.inputs[0].shape.with_rank_at_least(2)[:-1]
    for values in op.inputs[1:]:
        batch = batch.merge_with(values.shape.with_rank_at_least(2)[:-1])
    return batch


shape_rule("SerializeTensor")(scalar_output)


@shape_rule("ParseTensor")
def _parse_tensor_shape(op):
    return TensorShape(None)


not_differentiable("DecodeRaw", "DecodePaddedRaw", "ParseTensor", "SerializeTensor")
