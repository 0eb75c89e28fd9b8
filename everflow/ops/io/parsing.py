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

    >>> tf.decode_raw(features["image"], tf.uint8)
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

    >>> age, name = tf.decode_csv(line, [[0], [""]])
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
    """Strings that were compressed ("ZLIB" or "GZIP"), expanded."""
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples, name=None):
    """Examples written in JSON, in their binary form."""
    return raw.DecodeJSONExample(json_examples, name=name)


def serialize_tensor(tensor, name=None):
    """A tensor as a string, the bytes of a TensorProto."""
    return raw.SerializeTensor(tensor, name=name)


def parse_tensor(serialized, out_type, name=None):
    """A tensor from the bytes of a TensorProto."""
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

    >>> tf.io.decode_proto(records, "tensorflow.Int64List", ["value"], [tf.int64])
    """
    return raw.DecodeProtoV2(**locals())


def encode_proto(sizes, values, field_names, message_type, descriptor_source="local://", name=None):
    """Serialized protocol buffers with the first `sizes` of each field's values."""
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
    if len(fields) != len(op.attrs["output_types"]):
        raise ValueError(f"There are {len(fields)} field names but {len(op.attrs['output_types'])} output types")
    return [batch.concatenate(TensorShape([len(fields)])), *[batch.concatenate(TensorShape([None]))] * len(fields)]


@shape_rule("EncodeProto")
def _encode_proto_shape(op):
    return op.inputs[0].shape[:-1] if op.inputs[0].shape.ndims is not None else None


shape_rule("SerializeTensor")(scalar_output)


@shape_rule("ParseTensor")
def _parse_tensor_shape(op):
    return TensorShape(None)


not_differentiable("DecodeRaw", "DecodePaddedRaw", "ParseTensor", "SerializeTensor")
