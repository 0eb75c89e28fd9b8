"""Encodings: marks at the beginning, bytes that are no characters, and characters that are no text."""

import random

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.strings import unicode
from everflow.kernels.strings.unicode import _scripts


def fed(value, dtype=None):
    return tf.placeholder_with_default(tf.constant(value, dtype), [None])


def decoded(sess, text, encoding="UTF-8", **options):
    found = tf.strings.unicode_decode_with_offsets(fed([text]), encoding, **options)
    points, offsets = sess.run([found[0].values, found[1].values])
    return points.tolist(), offsets.tolist()


@pytest.mark.parametrize(
    ("text", "encoding", "points", "offsets"),
    [
        ("a\u00e9\u65e5\U0001f600".encode(), "UTF-8", [97, 233, 0x65E5, 0x1F600], [0, 1, 3, 6]),
        ("a\U0001f600b".encode("utf-16-be"), "UTF-16-BE", [97, 0x1F600, 98], [0, 2, 6]),
        ("ab".encode("utf-32-be"), "UTF-32-BE", [97, 98], [0, 4]),
        (b"a\xe9", "ISO-8859-1", [97, 233], [0, 1]),
        (b"", "UTF-8", [], []),
    ],
)
def test_code_points_and_where_they_begin(sess, text, encoding, points, offsets):
    assert decoded(sess, text, encoding) == (points, offsets)


@pytest.mark.parametrize(
    ("options", "points"),
    [
        ({}, [97, 0xFFFD, 98]),
        ({"replacement_char": 63}, [97, 63, 98]),
        ({"errors": "ignore"}, [97, 98]),
    ],
)
def test_bytes_that_are_no_characters(sess, options, points):
    assert decoded(sess, b"a\xffb", **options)[0] == points


def test_strict_decoding_and_control_characters(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting on input string"):
        decoded(sess, b"a\xffb", errors="strict")
    assert decoded(sess, b"a\x01b", replace_control_characters=True)[0] == [97, 0xFFFD, 98]
    assert decoded(sess, b"a\x01b")[0] == [97, 1, 98]


@pytest.mark.parametrize("output", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
def test_from_one_encoding_to_another(sess, output):
    text = "a\u00e9\u65e5\U0001f600"
    for source in ("UTF-8", "UTF-16-BE", "UTF-16-LE", "UTF-32-BE"):
        given = text.encode(source.lower())
        found = sess.run(tf.strings.unicode_transcode(fed([given]), source, output))
        assert found.tolist() == [text.encode(output.lower())]


@pytest.mark.parametrize("options", [{"replacement_char": 0x110000}, {"replacement_char": -1}])
def test_replacements_are_characters(sess, options):
    with pytest.raises(tf.errors.InvalidArgumentError, match="replacement_char out of unicode codepoint range"):
        sess.run(tf.strings.unicode_transcode(fed(["a"]), "UTF-8", "UTF-8", **options))


def test_unknown_encodings(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not create converter"):
        decoded(sess, b"a", "nothing")


def encode(points, splits, **options):
    return tf.raw_ops.UnicodeEncode(
        input_values=fed(points, tf.int32),
        input_splits=fed(splits, tf.int64),
        **{"output_encoding": "UTF-8", **options},
    )


def test_rows_of_code_points(sess):
    assert sess.run(encode([97, 0x65E5, 98], [0, 2, 2, 3])).tolist() == ["a\u65e5".encode(), b"", b"b"]
    assert sess.run(encode([97, 0x110000], [0, 2])).tolist() == ["a\ufffd".encode()]
    assert sess.run(encode([97, 0x110000], [0, 2], errors="ignore")).tolist() == [b"a"]


@pytest.mark.parametrize(
    ("points", "splits", "options"), [([0x110000], [0, 1], {"errors": "strict"}), ([97], [0, 5], {})]
)
def test_rows_that_can_not_be_encoded(sess, points, splits, options):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(encode(points, splits, **options))


def test_scripts_cover_every_character():
    scripts = _scripts()
    assert len(scripts) == 0x10FFFF + 3 and scripts[1:-1].min() >= 0 and scripts[0] == scripts[-1] == -1


def test_scripts(sess):
    assert sess.run(
        tf.strings.unicode_script(fed([65, 0x0416, 0x3042, 0x05D0, 32, -5, 0x110000, 2**31 - 1]))
    ).tolist() == [
        25,
        8,
        20,
        19,
        0,
        -1,
        -1,
        -1,
    ]


@pytest.mark.parametrize("seed", range(10))
def test_compiled_loops_give_the_same(both_ways, seed):
    rng = random.Random(seed)
    points = [0, 31, 32, 127, 128, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF, 97]
    texts = ["".join(chr(rng.choice(points)) for _ in range(rng.randrange(20))).encode() for _ in range(40)]
    if seed % 2:
        at, broken = rng.randrange(40), bytearray(texts[3] + b"end")
        broken[rng.randrange(len(broken))] = rng.randrange(256)
        texts[at] = bytes(broken)
    given = np.array(texts, object).reshape(4, 10)
    for errors in ("strict", "replace", "ignore"):
        for controls in (False, True):
            options = {
                "input_encoding": "UTF-8",
                "errors": errors,
                "replacement_char": 65533,
                "replace_control_characters": controls,
            }
            both_ways(lambda o=options: unicode.unicode_decode_with_offsets(given, Tsplits=tf.int64, **o))
            for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
                both_ways(lambda o=options, f=output: unicode.unicode_transcode(given, output_encoding=f, **o))


@pytest.mark.parametrize("seed", range(10))
def test_compiled_encoding_gives_the_same(both_ways, seed):
    rng = random.Random(seed)
    odd = [0, 65, 0x7F, 0x80, 0xD800, 0xDFFF, 0xFFFF, 0x10000, 0x10FFFF] + [-1, 0x110000] * (seed % 2)
    points = torch.tensor([rng.choice(odd) for _ in range(200)], dtype=torch.int32)
    splits = torch.tensor(sorted(rng.randrange(201) for _ in range(12)))
    for errors in ("strict", "replace", "ignore"):
        for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
            both_ways(
                lambda e=errors, f=output: unicode.unicode_encode(
                    points, splits, errors=e, output_encoding=f, replacement_char=65533
                )
            )


def test_halves_of_pairs_stay_in_wide_encodings(sess):
    points = [[97, 0xD800]]
    assert sess.run(tf.strings.unicode_encode(points, "UTF-8")).tolist() == ["a\ufffd".encode()]
    assert sess.run(tf.strings.unicode_encode(points, "UTF-16-BE")).tolist() == [b"\x00a\xd8\x00"]
    assert sess.run(tf.strings.unicode_encode(points, "UTF-32-BE")).tolist() == [b"\x00\x00\x00a\x00\x00\xd8\x00"]
