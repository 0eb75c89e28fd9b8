"""Bytes taken apart: byte orders, padding, compression, quotes in CSV, and bytes that are something else."""

import gzip
import random
import zlib

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.io import parsing
from everflow.kernels.tensors import torch_dtype
from tests.kernels.feeding import fed


@pytest.mark.parametrize("dtype", "float16 float32 float64 int8 uint8 int16 uint16 int32 int64".split())
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders(sess, dtype, order):
    x = np.arange(1, 7).reshape(3, 2).astype(dtype)
    rows = [row.astype(x.dtype.newbyteorder(order)).tobytes() for row in x]
    np.testing.assert_array_equal(sess.run(tf.decode_raw(fed(rows), dtype, little_endian=order == "<")), x)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_are_turned_around_whole(sess, dtype):
    x = np.array([1 + 2j, 3 - 4j], dtype)
    there, other = sess.run([tf.decode_raw(x.tobytes(), dtype, little_endian=little) for little in (True, False)])
    np.testing.assert_array_equal(there, x)
    assert other.tobytes() == b"".join(bytes(reversed(value.tobytes())) for value in x)


def test_bytes_are_truth_values_where_they_are_not_zero(sess):
    assert sess.run(tf.decode_raw(fed(b"\x00\x01\x02"), tf.bool)).tolist() == [False, True, True]


def test_padded_and_cut_to_one_length(sess):
    found = sess.run(
        tf.raw_ops.DecodePaddedRaw(input_bytes=fed(["ab", "abcdef", ""]), fixed_length=4, out_type=tf.uint8)
    )
    assert found.tolist() == [[97, 98, 0, 0], [97, 98, 99, 100], [0, 0, 0, 0]]


@pytest.mark.parametrize("length", [0, -1, 3])
def test_lengths_that_can_not_be(sess, length):
    found = tf.raw_ops.DecodePaddedRaw(input_bytes=fed(["ab"]), fixed_length=fed(length), out_type=tf.int16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fixed_length"):
        sess.run(found)


@pytest.mark.parametrize(("kind", "pack"), [("ZLIB", zlib.compress), ("GZIP", gzip.compress), ("", bytes)])
def test_compressed_strings(sess, kind, pack):
    texts = [b"some text " * 50, b"x", b""]
    packed = fed([[pack(t)] for t in texts])
    assert sess.run(tf.io.decode_compressed(packed, kind)).ravel().tolist() == texts


def test_what_is_not_compressed(sess):
    with pytest.raises(tf.errors.DataLossError):
        sess.run(tf.io.decode_compressed(fed(["not compressed at all"]), "ZLIB"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Only ZLIB, GZIP or NONE"):
        sess.run(tf.io.decode_compressed(fed(["a"]), "ZIP"))


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('a,"b ""quoted"" c",d', [b"a", b'b "quoted" c', b"d"]),
        ('"a,b","line\nbreak",""', [b"a,b", b"line\nbreak", b"-"]),
        (",,", [b"-", b"-", b"-"]),
        ("a,b,", [b"a", b"b", b"-"]),
        ("NA,x,NA", [b"-", b"x", b"-"]),
    ],
)
def test_fields_of_a_line(sess, line, fields):
    assert sess.run(tf.decode_csv(fed(line), [["-"]] * 3, na_value="NA")) == fields


def test_columns_of_lines(sess):
    lines = fed(["1;2.5;x;9", "-3;;y;8"])
    found = sess.run(
        tf.decode_csv(lines, [[0], [0.5], [7]], field_delim=";", select_cols=[0, 1, 3], use_quote_delim=False)
    )
    assert [column.tolist() for column in found] == [[1, -3], [2.5, 0.5], [9, 8]]


@pytest.mark.parametrize(
    ("line", "default", "message"),
    [
        ("1,2", [0], "Expect 1 fields but have 2 in record 0"),
        ("x", [0], "Field 0 in record 0 is not a valid int32: x"),
        ("", [0.5], "Expect 1 fields but have 0"),
        ('"a', [""], "Quoted field has to end with quote"),
        ('"a"b', [""], "Quote inside a string has to be escaped"),
        ('a"b', [""], "Unquoted fields cannot have quotes"),
        ("9999999999", [0], "is not a valid int32"),
    ],
)
def test_lines_that_are_refused(sess, line, default, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(tf.decode_csv(fed(line), [default]))


def test_required_fields(sess):
    required = tf.constant([], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 is required but missing in record 0!"):
        sess.run(tf.decode_csv(fed("1,"), [[0], required]))


@pytest.mark.parametrize("dtype", "float16 float32 int8 uint16 int64 bool complex64 string".split())
def test_tensors_as_bytes_and_back(sess, dtype):
    value = np.array([[b"a", b""], [b"\xff", b"b"]], object) if dtype == "string" else np.eye(2).astype(dtype)
    text = tf.io.serialize_tensor(fed(value, dtype))
    np.testing.assert_array_equal(sess.run(tf.io.parse_tensor(text, dtype)), value)
    scalar = tf.io.parse_tensor(tf.io.serialize_tensor(fed(value[0, 0], dtype)), dtype)
    assert np.shape(sess.run(scalar)) == ()


@pytest.mark.parametrize("text", [b"nonsense", b"", [b"a"]])
def test_bytes_that_are_no_tensor(sess, text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.io.parse_tensor(fed(text), tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch between parsed tensor"):
        sess.run(tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32))


def test_examples_in_json(sess):
    json = '{"features": {"feature": {"a": {"int64List": {"value": ["1", "2"]}}}}}'
    parsed = tf.parse_single_example(tf.decode_json_example(fed(json)), {"a": tf.FixedLenFeature([2], tf.int64)})
    assert sess.run(parsed)["a"].tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
        sess.run(tf.decode_json_example(fed('{"features": ')))


def line(rng, fields):
    """A line of so many fields, some of them odd."""
    odd = [
        b"",
        b"NA",
        b" 5",
        b"7",
        b"-12",
        b"1.5",
        b"x",
        b'"q, ""r"""',
        b'""',
        b'"a\nb"',
        b"1e3",
        b'a"b',
        b'"open',
        b"99999999999",
    ]
    usual = [b"1", b"22", b'"3"', b"", b"NA"]
    source = usual if rng.randrange(4) else odd
    return b",".join(rng.choice(source) for _ in range(fields))


@pytest.mark.parametrize("seed", range(150))
def test_compiled_columns_are_the_same(both_ways, seed):
    rng = random.Random(seed)
    records = np.array([line(rng, 5 if rng.randrange(9) else 4) for _ in range(rng.randrange(1, 6))], object)
    types = [rng.choice([tf.string, tf.int32, tf.int64, tf.float32, tf.float64]) for _ in range(5)]
    selected = rng.choice([[], [], [1, 3], [0, 4], [2]])
    types = types[: len(selected)] if selected else types
    defaults = []
    for dtype in types:
        values = [7] if rng.randrange(4) else []
        if dtype == tf.string:
            defaults.append(np.array([b"none"] * len(values), object))
        else:
            defaults.append(torch.tensor(values, dtype=torch_dtype(dtype)))
    both_ways(
        lambda: parsing.decode_csv(
            records,
            defaults,
            OUT_TYPE=types,
            field_delim=",",
            use_quote_delim=seed % 5 > 0,
            na_value="NA" if seed % 2 else "",
            select_cols=selected,
        )
    )


def test_usual_lines_are_read_by_a_compiled_loop(both_ways, monkeypatch):
    records = np.array([b'1,"a, ""b""",2.5', b"-3,,0.1"], object)
    defaults = [torch.zeros(1, dtype=torch.int32), np.array([b"-"], object), torch.zeros(1)]
    options = {"field_delim": ",", "use_quote_delim": True, "na_value": "", "select_cols": []}
    types = [tf.int32, tf.string, tf.float32]
    found = both_ways(lambda: parsing.decode_csv(records, defaults, OUT_TYPE=types, **options))
    assert found[0].tolist() == [1, -3] and found[1].tolist() == [b'a, "b"', b"-"]
    monkeypatch.setattr(parsing, "split_csv_line", None)
    assert parsing.decode_csv(records, defaults, OUT_TYPE=types, **options)[1].tolist() == [b'a, "b"', b"-"]
