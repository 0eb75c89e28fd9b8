"""Strings cut, joined and matched: bytes that are no text, empty strings and axes, patterns at their edges."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed


@pytest.mark.parametrize(
    ("text", "start", "count", "unit", "piece"),
    [
        (b"abc", 3, 1, "BYTE", b""),
        (b"abc", -3, 2, "BYTE", b"ab"),
        (b"abc", 1, 100, "BYTE", b"bc"),
        ("h\u00e9llo".encode(), 1, 1, "UTF8_CHAR", "\u00e9".encode()),
        ("h\u00e9llo".encode(), -2, 5, "UTF8_CHAR", b"lo"),
        ("\u65e5\u672c".encode(), 2, 1, "UTF8_CHAR", b""),
        (b"", 0, 1, "BYTE", b""),
    ],
)
def test_pieces(sess, text, start, count, unit, piece):
    assert sess.run(tf.strings.substr(fed(text), fed(start), fed(count), unit=unit)) == piece


@pytest.mark.parametrize(("start", "unit"), [(4, "BYTE"), (-4, "BYTE"), (4, "UTF8_CHAR")])
def test_pieces_that_begin_outside(sess, start, unit):
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range for string"):
        sess.run(tf.strings.substr(fed("abc"), fed(start), fed(1), unit=unit))


def test_pieces_of_many_strings(sess):
    found = sess.run(tf.strings.substr(fed([["ab", "cd"], ["ef", "gh"]]), fed([0, 1]), fed([1, 1])))
    assert found.tolist() == [[b"a", b"d"], [b"e", b"h"]]


def test_lengths_of_bytes_that_are_no_text(sess):
    words = fed([b"\xff\xfe", b"", "\U0001f600".encode()])
    found = sess.run([tf.strings.length(words), tf.strings.length(words, unit="UTF8_CHAR")])
    assert [f.tolist() for f in found] == [[2, 0, 4], [2, 0, 1]]


def test_joining_axes(sess):
    words = np.array([["a", "b"], ["c", "d"], ["e", "f"]])
    for axes, wanted in (
        ([0], [b"a-c-e", b"b-d-f"]),
        ([1], [b"a-b", b"c-d", b"e-f"]),
        ([1, 0], b"a-b-c-d-e-f"),
        ([0, 1], b"a-c-e-b-d-f"),
    ):
        found = sess.run(tf.raw_ops.ReduceJoin(inputs=fed(words), reduction_indices=fed(axes), separator="-"))
        assert (found if isinstance(found, bytes) else found.tolist()) == wanted
    nothing = sess.run(tf.reduce_join(fed(np.zeros([2, 0], str)), 1))
    assert nothing.tolist() == [b"", b""]


@pytest.mark.parametrize(
    ("axes", "error"),
    [([2], tf.errors.OutOfRangeError), ([-3], tf.errors.OutOfRangeError), ([0, -2], tf.errors.InvalidArgumentError)],
)
def test_axes_that_can_not_be_joined(sess, axes, error):
    joined = tf.raw_ops.ReduceJoin(inputs=fed([["a"]]), reduction_indices=fed(axes))
    with pytest.raises(error):
        sess.run(joined)


@pytest.mark.parametrize(
    ("text", "sep", "most", "pieces"),
    [
        ("a  b", None, -1, [b"a", b"b"]),
        ("  ", None, -1, []),
        ("a b c", None, 1, [b"a", b"b c"]),
        ("a,,b", ",", -1, [b"a", b"", b"b"]),
        ("", ",", -1, [b""]),
        ("a<>b", "<>", -1, [b"a", b"b"]),
        ("a b", None, 0, [b"a b"]),
    ],
)
def test_pieces_between_separators(sess, text, sep, most, pieces):
    found = tf.raw_ops.StringSplitV2(input=fed([text]), sep=sep or "", maxsplit=most)
    assert sess.run(found.values).tolist() == pieces


@pytest.mark.parametrize(
    ("pattern", "rewrite", "text", "wanted"),
    [
        ("a(b)?", r"[\1]", "abaa", b"[b][][]"),
        ("^", "> ", "x", b"> x"),
        ("$", "!", "x", b"x!"),
        ("", "-", "\u00e9", b"-\xc3\xa9-"),
        ("(?i)A", "b", "aA", b"bb"),
        (r"\s+", " ", "a \t\n b", b"a b"),
        ("x", r"\\", "axb", b"a\\b"),
        ("", "-", "", b"-"),
    ],
)
def test_replacements(sess, pattern, rewrite, text, wanted):
    static, given = sess.run(
        [
            tf.strings.regex_replace(fed(text), pattern, rewrite),
            tf.raw_ops.RegexReplace(input=fed(text), pattern=fed(pattern), rewrite=fed(rewrite)),
        ]
    )
    assert static == given == wanted


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [("a|ab", [True, True, False]), ("ab?", [True, True, False]), (".*", [True] * 3), ("", [False] * 3)],
)
def test_matches_of_the_whole(sess, pattern, wanted):
    assert sess.run(tf.strings.regex_full_match(fed(["a", "ab", "abc"]), pattern)).tolist() == wanted


@pytest.mark.parametrize("pattern", ["(", "[a", "*"])
def test_patterns_that_are_none(sess, pattern):
    for found in (
        tf.strings.regex_full_match(fed(["a"]), pattern),
        tf.strings.regex_replace(fed(["a"]), fed(pattern), ""),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
            sess.run(found)


@pytest.mark.parametrize("text", ["YQ=", "Y===", "a+b/", "a b c", "Y"])
def test_base64_that_is_none(sess, text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.decode_base64(fed(text)))


def test_fingerprints_of_rows(sess):
    numbers, words = sess.run(
        [tf.fingerprint(fed(np.arange(6).reshape(3, 2))), tf.fingerprint(fed([["a", "b"], ["a", "b"]]))]
    )
    assert numbers.shape == (3, 8) and len({row.tobytes() for row in numbers}) == 3
    assert words[0].tolist() == words[1].tolist()
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.Fingerprint(data=fed(["a"]), method=fed("md5")))


@pytest.mark.parametrize("keys", [(1, 2), (3, 4)])
def test_strong_buckets_depend_on_their_key(sess, keys):
    words = fed(["a", "b", "c", "d"])
    found = sess.run(tf.strings.to_hash_bucket_strong(words, 1000, keys)).tolist()
    other = sess.run(tf.strings.to_hash_bucket_strong(words, 1000, (5, 6))).tolist()
    assert all(0 <= bucket < 1000 for bucket in found) and found != other


def test_splits_that_can_not_be(sess):
    found = tf.raw_ops.StringNGrams(
        data=fed(["a", "b"]), data_splits=fed([0, 5]), separator=" ", ngram_widths=[1], left_pad="", right_pad="",
        pad_width=0, preserve_short_sequences=False,
    )  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)split value"):
        sess.run(found.ngrams)


def test_words_of_segments(sess):
    found = tf.strings.unsorted_segment_join(
        fed([["a", "b"], ["c", "d"], ["e", "f"]]), fed([1, 1, 0]), 3, separator="+"
    )
    assert sess.run(found).tolist() == [[b"e", b"f"], [b"a+c", b"b+d"], [b"", b""]]
