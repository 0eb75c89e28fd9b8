"""Strings in rows: split, joined into n-grams, decoded and encoded."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

S = tf.strings


pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


def rows(ragged):
    value = run(ragged)
    return value.to_list() if hasattr(value, "to_list") else value.tolist()


RAGGED = {
    "split": (lambda: S.split(["a b", "", "c  d"], result_type="RaggedTensor"), [[b"a", b"b"], [], [b"c", b"d"]]),
    "split at": (lambda: S.split(["a<>b<>", "<>"], "<>", result_type="RaggedTensor"), [[b"a", b"b", b""], [b"", b""]]),
    "split once": (lambda: S.split(["  a  b  c "], maxsplit=1, result_type="RaggedTensor"), [[b"a", b"b  c "]]),
    "split a scalar": (lambda: S.split("a b", result_type="RaggedTensor"), [b"a", b"b"]),
    "split a matrix": (lambda: S.split([["a b"], ["c"]], result_type="RaggedTensor"), [[[b"a", b"b"]], [[b"c"]]]),
    "bytes": (lambda: S.bytes_split(["ab", ""]), [[b"a", b"b"], []]),
    "ngrams": (lambda: S.ngrams(["a", "b", "c"], 2), [b"a b", b"b c"]),
    "ngrams of rows": (lambda: S.ngrams(tf.ragged.constant([["a"], ["b", "c"]]), 2, separator="-"), [[], [b"b-c"]]),
    "ngrams padded": (
        lambda: S.ngrams([["a", "b"]], [2, 3], pad_values=("L", "R")),
        [[b"L a", b"a b", b"b R", b"L L a", b"L a b", b"a b R", b"b R R"]],
    ),
    "ngrams short": (lambda: S.ngrams(tf.ragged.constant([["a"], []]), 2, preserve_short_sequences=True), [[b"a"], []]),
    "decode": (lambda: S.unicode_decode(["aé", ""], "UTF-8"), [[97, 233], []]),
    "decode a matrix": (lambda: S.unicode_decode([["a"], ["bc"]], "UTF-8"), [[[97]], [[98, 99]]]),
    "offsets": (lambda: S.unicode_decode_with_offsets(["aé日"], "UTF-8")[1], [[0, 1, 3]]),
    "encode": (lambda: S.unicode_encode(tf.ragged.constant([[97, 0x65E5], []]), "UTF-8"), ["a日".encode(), b""]),
    "encode a vector": (lambda: tf.reshape(S.unicode_encode([97, 98], "UTF-16-BE"), [1]), [b"\0a\0b"]),
    "characters": (lambda: S.unicode_split(["aé", "日"], "UTF-8"), [[b"a", "é".encode()], ["日".encode()]]),
}


@pytest.mark.parametrize("case", RAGGED)
def test_ragged_values(case):
    build, want = RAGGED[case]
    assert rows(build()) == want


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: S.split(["a"], result_type="List"), ValueError),
        (lambda: S.ngrams(["a"], 0), ValueError),
        (lambda: S.ngrams(["a"], 2, pad_values=3), TypeError),
        (lambda: S.ngrams(["a"], 2, padding_width=1), ValueError),
        (lambda: S.unicode_encode(97, "UTF-8"), ValueError),
        (lambda: S.unicode_encode([97], "latin1"), ValueError),
        (lambda: S.unicode_decode(tf.placeholder(tf.string), "UTF-8"), ValueError),
        (lambda: S.bytes_split(tf.placeholder(tf.string)), ValueError),
    ],
)
def test_ragged_refused(build, error):
    with pytest.raises(error):
        build()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_code_points_there_and_back(texts):
    with tf.Graph().as_default():
        points = S.unicode_decode(texts, "UTF-8")
        assert rows(points) == [[ord(c) for c in text] for text in texts]
        assert rows(S.unicode_encode(points, "UTF-8")) == [text.encode() for text in texts]


def test_characters_of_constants_are_counted_before_running():
    words = tf.constant(["h\u00e9llo", "\u4f60\u597d", ""])
    assert tf.strings.unicode_split(words, "UTF-8").values.shape.as_list() == [7]
    assert tf.strings.unicode_decode(words, "UTF-8").to_tensor(-1).shape.as_list() == [3, 5]
    # What isn't well-formed is left to the run.
    assert tf.strings.unicode_decode([b"\xff"], "UTF-8").to_tensor(-1).shape.as_list() == [1, None]
