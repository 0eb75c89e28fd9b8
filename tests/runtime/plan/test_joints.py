"""What is made piece by piece is made at once, and comes to the same."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.sessions import compiled, plain, types

R = np.random.RandomState(0)


def feed(*shape):
    return tf.placeholder(tf.float32, shape), R.randn(*shape).astype("f")


def assert_same(fetches, feeds):
    with tf.Session() as on, plain() as off:
        for one, other in zip(on.run(fetches, feeds), off.run(fetches, feeds), strict=True):
            np.testing.assert_allclose(one, other, 1e-5, 1e-5)


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: [x[:, 4:], x[:, :1], x[:, 1:4]],
        lambda x: [x[2:], x[:1], x[1:2]],
        lambda x: [x[0:1, :], x[1:2, 0:6], x[2:3]],
    ],
)
def test_gradients_of_slices_that_are_a_whole(cut):
    x, value = feed(3, 6)
    slope = tf.gradients([part**2 * (i + 2.0) for i, part in enumerate(cut(x))], x)
    plan = compiled(slope, [x])
    assert plan.changes["slices that are a whole"] == 1 and "StridedSliceGrad" not in types(plan)
    assert_same(slope, {x: value})


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: [x[:, 4:], x[:, :1], x[:, 2:4]],  # a gap
        lambda x: [x[:, 3:], x[:, :2], x[:, 1:3]],  # twice the same
        lambda x: [x[:, ::2], x[:, 1::2], x[:1, :1]],
        lambda x: [x[:1, :3], x[1:, :3], x[:, 3:]],  # along two axes
        lambda x: [x[0], x[1], x[2]],  # which are vectors
    ],
)
def test_gradients_of_other_slices(cut):
    x, value = feed(3, 6)
    slope = tf.gradients([part**2 * (i + 2.0) for i, part in enumerate(cut(x))], x)
    assert not compiled(slope, [x]).changes.get("slices that are a whole")
    assert_same(slope, {x: value})


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_of_one_matrix(turned):
    a, value = feed(*((5, 4) if turned[0] else (4, 5)))
    feeds = {a: value}
    others = []
    for columns in (3, 2, 6):
        b, value = feed(*((columns, 5) if turned[1] else (5, columns)))
        feeds[b] = value
        others.append(b)
    product = tf.concat([tf.matmul(a, b, *turned) for b in others], 1)
    plan = compiled([product], list(feeds))
    assert plan.changes["products of one matrix"] == 1 and types(plan).count("MatMul") == 1
    assert_same([product], feeds)


def test_products_that_stay():
    (a, one), (b, other), (c, third) = feed(4, 4), feed(4, 4), feed(4, 4)
    ab = tf.matmul(a, b)
    stay = {
        "two left matrices": [tf.concat([ab, tf.matmul(c, b)], 1)],
        "one below the other": [tf.concat([ab, tf.matmul(a, c)], 0)],
        "one that others take": [tf.concat([ab, tf.matmul(a, c)], 1), ab],
        "turned round or not": [tf.concat([ab, tf.matmul(a, c, transpose_b=True)], 1)],
        "the same twice": [tf.concat([ab, ab], 1)],
    }
    for name, fetches in stay.items():
        assert not compiled(fetches, [a, b, c]).changes.get("products of one matrix"), name
        assert_same(fetches, {a: one, b: other, c: third})


def test_sums_of_rows_side_by_side():
    (a, one), (b, other) = feed(4, 3), feed(4, 2)
    biases = tf.split(tf.get_variable("b", initializer=np.ones(5, "f")), [3, 2])
    total = tf.nn.bias_add(a, biases[0]) ** 2, tf.nn.bias_add(b, biases[1]) ** 3
    slope = tf.gradients(total, tf.trainable_variables())
    plan = compiled(slope, [a, b])
    assert plan.changes["sums of rows side by side"] == 1 and types(plan).count("BiasAddGrad") == 1
    shown = []
    for make in (tf.Session, plain):
        with make() as sess:
            sess.run(tf.global_variables_initializer())
            shown.append(sess.run(slope, {a: one, b: other}))
    np.testing.assert_allclose(*shown, 1e-5)


# --- characters: code points that are encoded again one by one --------------------------------------

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
