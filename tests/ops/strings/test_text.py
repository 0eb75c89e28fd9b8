"""String ops through the public API: values, shapes and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

S = tf.strings


pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


def listed(tensor):
    value = run(tensor)
    return value.tolist() if isinstance(value, np.ndarray) else value


VALUES = [1.0, 0.1, 1e10, 1e-10, float("nan"), float("-inf"), -1.5]


CASES = {
    "as_string int": (lambda: S.as_string([1, -20], width=5, fill="0"), [b"00001", b"-0020"]),
    "as_string left": (lambda: S.as_string([1, -20], width=5, fill="-"), [b"1    ", b"-20  "]),
    "as_string float": (
        lambda: S.as_string(VALUES),
        [b"1.000000", b"0.100000", b"10000000000.000000", b"0.000000", b"nan", b"-inf", b"-1.500000"],
    ),
    "as_string shortest": (
        lambda: S.as_string(VALUES, shortest=True),
        [b"1", b"0.1", b"1e+10", b"1e-10", b"nan", b"-inf", b"-1.5"],
    ),
    "as_string precision": (lambda: S.as_string([2.5], precision=2, scientific=True), [b"2.50e+00"]),
    "as_string bool": (lambda: S.as_string([True, False]), [b"true", b"false"]),
    "as_string complex": (lambda: S.as_string(np.complex64([1 + 2j]), precision=1), [b"(1.0,2.0)"]),
    "strip": (lambda: S.strip([" \t a b \n"]), [b"a b"]),
    "lower": (lambda: S.lower(["ÀBC"]), ["Àbc".encode()]),
    "lower utf-8": (lambda: S.lower(["ÀBC"], encoding="utf-8"), ["àbc".encode()]),
    "length": (lambda: S.length(["é日本"], unit="UTF8_CHAR"), [3]),
    "substr": (lambda: S.substr(["abc", "xyz"], [0, -2], [1, 5]), [b"a", b"yz"]),
    "substr characters": (lambda: S.substr(["aé日"], 1, 2, unit="UTF8_CHAR"), ["é日".encode()]),
    "substr broadcast": (lambda: S.substr("abcdef", [0, 1], [1, 2]), [b"a", b"bc"]),
    "join": (lambda: S.join([["a", "b"], "x"], separator="-"), [b"a-x", b"b-x"]),
    "reduce_join": (lambda: S.reduce_join([["a", "b"], ["c", "d"]], [0, 1], separator="."), b"a.c.b.d"),
    "reduce_join all": (lambda: S.reduce_join([["a", "b"], ["c", "d"]]), b"abcd"),
    "reduce_join keep": (lambda: S.reduce_join([["a", "b"]], 1, keepdims=True), [[b"ab"]]),
    "unsorted_segment_join": (
        lambda: S.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, separator="-"),
        [b"b", b"a-c", b""],
    ),
    "regex_replace": (lambda: S.regex_replace(["abc"], "(b)", r"<\1\0\\>"), [b"a<bb\\>c"]),
    "regex_replace empty": (lambda: S.regex_replace(["abc"], "x*", "-"), [b"-a-b-c-"]),
    "regex_replace first": (lambda: S.regex_replace(["aaa"], tf.constant("a"), "b", replace_global=False), [b"baa"]),
    "regex_replace bytes that are no text": (lambda: S.regex_replace([b"\xff\x80a"], ".", "-"), [b"\xff\x80-"]),
    "regex_full_match": (lambda: S.regex_full_match(["abc", "abcd"], "abc.?"), [True, True]),
    "to_number": (lambda: S.to_number(["1.5", " -2 ", "1e3", "0x10", "INF"]), [1.5, -2.0, 1000.0, 16.0, float("inf")]),
    "to_number int": (lambda: S.to_number(["007", "-5", " 6\n"], tf.int64), [7, -5, 6]),
    "encode_base64": (lambda: tf.encode_base64([b"a\xff\xfe", b"ab"]), [b"Yf_-", b"YWI"]),
    "encode_base64 padded": (lambda: tf.encode_base64([b"a"], pad=True), [b"YQ=="]),
    "decode_base64": (lambda: tf.decode_base64(["YQ", "YQ==", "_-8"]), [b"a", b"a", b"\xff\xef"]),
    "format": (lambda: S.format("{} of {}", (tf.range(8), "x")), b'[0 1 2 ... 5 6 7] of "x"'),
    "format matrix": (lambda: S.format("{}", tf.reshape(tf.range(4), [2, 2])), b"[[0 1]\n [2 3]]"),
    "transcode": (lambda: S.unicode_transcode([b"a\xffb"], "UTF-8", "UTF-16-BE"), [b"\x00a\xff\xfd\x00b"]),
    "transcode ignoring": (lambda: S.unicode_transcode([b"a\xffb"], "UTF-8", "UTF-8", errors="ignore"), [b"ab"]),
    "script": (lambda: S.unicode_script([97, 0x4E2D, 48, -1, 0x110000]), [25, 17, 0, -1, -1]),
    "fingerprint": (lambda: tf.fingerprint(["a"]), [[227, 117, 223, 182, 101, 66, 69, 179]]),
}


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    build, want = CASES[case]
    have = listed(build())
    if isinstance(want, list) and isinstance(want[0], float):
        np.testing.assert_array_equal(have, want)
    else:
        assert have == want


SPLITS = [
    ([" a  b ", "", "c"], {}, [[b"a", b"b"], [], [b"c"]]),
    ([" a  b "], {"skip_empty": False}, [[b"", b"a", b"", b"b", b""]]),
    (["a,b;;c"], {"delimiter": ",;"}, [[b"a", b"b", b"c"]]),
    (["abc", ""], {"delimiter": ""}, [[b"a", b"b", b"c"], []]),
]


@pytest.mark.parametrize(("source", "options", "rows"), SPLITS)
def test_string_split(source, options, rows):
    found = run(tf.string_split(source, **options))
    assert found.values.tolist() == [piece for row in rows for piece in row]
    assert found.indices.tolist() == [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    assert found.dense_shape.tolist() == [len(rows), max(map(len, rows))]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=5))
def test_base64_there_and_back(strings):
    with tf.Graph().as_default():
        assert listed(tf.decode_base64(tf.encode_base64(strings))) == strings


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=20))
def test_transcoding_there_and_back(text):
    with tf.Graph().as_default():
        wide = S.unicode_transcode([text], "UTF-8", "UTF-32-BE")
        assert listed(wide) == [text.encode("utf-32-be")]
        assert listed(S.unicode_transcode(wide, "UTF-32-BE", "UTF-8")) == [text.encode()]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False), min_size=1, max_size=5)
)
def test_numbers_there_and_back(numbers):
    with tf.Graph().as_default():
        np.testing.assert_array_equal(
            run(S.to_number(S.as_string(numbers, precision=9, scientific=True))), np.float32(numbers)
        )


def test_shapes_known_when_built():
    some = tf.placeholder(tf.string, [2, None])
    assert S.length(some).shape.as_list() == [2, None]
    assert S.join([some, "x"]).shape.as_list() == [2, None]
    assert S.reduce_join(some, 1).shape.as_list() == [2]
    assert S.reduce_join(some, 0, keepdims=True).shape.as_list() == [1, None]
    assert S.format("{}", some).shape.as_list() == []
    assert tf.fingerprint(some).shape.as_list() == [2, 8]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: S.reduce_join([["a"]], 2), ValueError),
        (lambda: S.join([["a", "b"], ["x", "y", "z"]]), ValueError),
        (lambda: S.substr("a", 0.0, 1.0), TypeError),
        (lambda: S.substr("a", 0, 1, unit="WORD"), ValueError),
        (lambda: tf.string_split(tf.constant("a")), ValueError),
        (lambda: tf.string_split(["a"], sep=" ", delimiter=","), ValueError),
        (lambda: S.to_number("1", tf.bool), TypeError),
        (lambda: S.format("{} {}", (1,)), ValueError),
        (lambda: S.to_hash_bucket_fast(["a"], 0), ValueError),
    ],
)
def test_refused_when_built(build, error):
    with pytest.raises(error):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: S.to_number(["abc"]),
        lambda: S.to_number(["+5"], tf.int32),
        lambda: S.to_number(["99999999999"], tf.int32),
        lambda: S.substr(["abc"], 5, 1),
        lambda: S.regex_replace(["a"], "(", "x"),
        lambda: tf.decode_base64(["Y"]),
        lambda: tf.decode_base64(["//79"]),
        lambda: S.as_string([1], precision=2),
        lambda: S.unicode_transcode([b"\xff"], "UTF-8", "UTF-8", errors="strict"),
        lambda: S.unicode_transcode(["a"], "nope", "UTF-8"),
        lambda: S.unsorted_segment_join(["a"], [5], 2),
    ],
)
def test_refused_when_run(build):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(build())


def rows(ragged):
    value = run(ragged)
    return value.to_list() if hasattr(value, "to_list") else value.tolist()
