"""Code points that are encoded again one by one: characters, cut out of the text."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.sessions import compiled, types

TEXTS = [b"h\xc3\xa9llo", b"", b"\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80", b"bad \xff\xfe text", b"\x01\x02"]


def by_two_ops(text, encoding, errors, replacement):
    """The same through code points that are fetched and fed, so that no rewrite sees both."""
    points = tf.strings.unicode_decode(text, encoding, errors, replacement)
    with tf.Session() as sess:
        found = sess.run(points)
    column = tf.placeholder(tf.int32, [None, 1])
    with tf.Session() as sess:
        flat = sess.run(
            tf.strings.unicode_encode(column, encoding, errors, replacement), {column: found.flat_values[:, None]}
        )
    return flat.tolist(), found.row_splits.tolist()


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE"])
@pytest.mark.parametrize("errors, replacement", [("replace", 0xFFFD), ("replace", 65), ("ignore", 0xFFFD)])
def test_characters_are_those_of_two_ops(encoding, errors, replacement):
    text = np.array(TEXTS, object)
    fed = tf.placeholder(tf.string, [None])
    split = tf.strings.unicode_split(fed, encoding, errors, replacement)
    assert "_UnicodeCharacters" in types(compiled(split.flat_values, [fed]))
    with tf.Session() as sess:
        found = sess.run(split, {fed: text})
    assert (found.flat_values.tolist(), found.row_splits.tolist()) == by_two_ops(text, encoding, errors, replacement)


def test_text_that_is_wrong_is_refused_as_by_two_ops():
    split = tf.strings.unicode_split(TEXTS, "UTF-8", errors="strict")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting"):
        sess.run(split)


def test_offsets_of_characters_come_along():
    characters, offsets = tf.strings.unicode_split_with_offsets([b"h\xc3\xa9y"], "UTF-8")
    with tf.Session() as sess:
        found = sess.run([characters, offsets])
    assert found[0].to_list() == [[b"h", b"\xc3\xa9", b"y"]]
    assert found[1].to_list() == [[0, 1, 3]]


def test_rows_of_several_code_points_stay_rows():
    fed = tf.placeholder(tf.string, [None])
    points = tf.strings.unicode_decode(fed, "UTF-8").flat_values
    pairs = tf.strings.unicode_encode(tf.reshape(points, [-1, 2]), "UTF-8")
    assert "_UnicodeCharacters" not in types(compiled(pairs, [fed]))
    with tf.Session() as sess:
        assert sess.run(pairs, {fed: [b"abcd"]}).tolist() == [b"ab", b"cd"]
