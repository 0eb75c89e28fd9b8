"""Strings cut, joined and split: bytes that are no text, empty strings, axes and separators."""

import random

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.strings import pieces
from tests.kernels.feeding import fed


def scalar(value):
    return np.array(value, object)


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


ODD = [
    b"",
    b" ",
    b"a",
    b"  a  b ",
    b"a,b,,c,",
    b",",
    b"\x00\xff",
    b"x" * 300,
    b"\t a\n",
    "h\u00e9llo w\u00f6rld".encode(),
]


def draw(rng, count):
    return [rng.choice([*ODD, bytes(rng.choices(b"ab ,;", k=rng.randrange(12)))]) for _ in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_compiled_loops_give_the_same(both_ways, seed):
    rng = random.Random(seed)
    text = np.array(draw(rng, 60), object)
    for sep, most in ((b"", -1), (b"", 2), (b"", 1), (b",", -1), (b",", 1), (b"a,", -1), (b"  ", 3), (b"a", 0)):
        both_ways(lambda sep=sep, most=most: pieces.split_v2(text, scalar(sep), maxsplit=most))
    for delimiters in (b"", b" ", b",; "):
        for skip in (False, True):
            both_ways(lambda d=delimiters, skip=skip: pieces.split(text, scalar(d), skip_empty=skip))
    for start, count in ((0, 3), (0, -1), (-1, 1), (1, 2), (0, 0)):
        for unit in ("BYTE", "UTF8_CHAR"):
            both_ways(lambda s=start, c=count, u=unit: pieces.substr(text, torch.tensor(s), torch.tensor(c), unit=u))
    starts = torch.tensor([rng.randrange(-len(s), len(s) + 1) for s in text], dtype=torch.int32)
    both_ways(lambda: pieces.substr(text, starts, torch.full_like(starts, 2), unit="BYTE"))
    both_ways(lambda: pieces.join([text, scalar(b"-"), text[::-1]], separator="++"))
    for axes in ([0], [1], [0, 1], [1, 0], []):
        table = text.reshape(6, 10)
        both_ways(lambda a=axes, t=table: pieces.reduce_join(t, torch.tensor(a), keep_dims=False, separator=", "))
    splits = torch.tensor(sorted(rng.randrange(61) for _ in range(5)))
    for widths, padding in (([1], 0), ([2, 3], 0), ([2], 1)):
        both_ways(
            lambda w=widths, p=padding: pieces.ngrams(
                text,
                splits,
                separator=" ",
                ngram_widths=w,
                left_pad="<",
                right_pad=">",
                pad_width=p,
                preserve_short_sequences=False,
                Tsplits=tf.int64,
            )
        )


def test_words_that_come_again_are_told_apart():
    """Thousands of pieces, so that equal ones are shared: of all lengths, with zeros, and alike at both ends."""
    code = pieces._SPLITS.at_once()
    if code is None:
        pytest.skip("there is no compiler")
    rng = random.Random(4)
    ends = [bytes([c]) * n for c in (0, 97, 98) for n in range(1, 10)]
    words = [rng.choice(ends) + rng.choice([b"", b"-", b"\0"]) + rng.choice(ends) for _ in range(300)]
    texts = [b" ".join(rng.choices(words, k=rng.randrange(6))) for _ in range(6000)]
    distinct = [b"%d %d" % (i, i * 7919) for i in range(20000)]
    for given in (texts, distinct):
        array = np.array(given, object)
        wanted = [piece for text in given for piece in text.split(b" ") if piece]
        _, found, _ = pieces.split(array, scalar(b" "), skip_empty=True)
        assert found.tolist() == wanted
        cut = pieces.substr(array, torch.tensor(0), torch.tensor(3), unit="BYTE")
        assert cut.tolist() == [text[:3] for text in given]
