"""Where conditions hold, elements by place, and rows repeated."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, ROWS, run

pytestmark = pytest.mark.usefixtures("own_graph")


_ROWS = [[3, 1, 4], [], [1, 5]]


_ROW_FUNCTIONS = {
    "indices": (lambda rt: tf.where(tf.greater(rt, 2)), [[0, 0], [0, 2], [2, 1]]),
    "choice": (lambda rt: tf.where(rt > 2, rt, -rt), [[3, -1, 4], [], [-1, 5]]),
    "rows": (
        lambda rt: tf.where(tf.constant([True, False, True]), rt, tf.ragged.constant([[0], [7, 7], [0]])),
        [[3, 1, 4], [7, 7], [1, 5]],
    ),
    "elements": (lambda rt: tf.gather_nd(rt, [[0, 1], [2, 0]]), [1, 1]),
    "rows by index": (lambda rt: tf.gather_nd(rt, [[2], [0]]), [[1, 5], [3, 1, 4]]),
    "each row's own": (lambda rt: tf.batch_gather(rt, tf.ragged.constant([[2, 0], [], [1]])), [[4, 3], [], [5]]),
    "tiled": (lambda rt: tf.tile(rt, [2, 2])[:3], [[3, 1, 4, 3, 1, 4], [], [1, 5, 1, 5]]),
    "squeezed": (lambda rt: tf.squeeze(tf.expand_dims(rt, 1), [1]), _ROWS),
    "rank": (tf.rank, 2),
}


@pytest.mark.parametrize("name", _ROW_FUNCTIONS)
def test_functions_of_tensors_on_rows(name):
    function, expected = _ROW_FUNCTIONS[name]
    with tf.Session() as sess:
        found = sess.run(function(tf.ragged.constant(_ROWS)))
    assert (found.to_list() if hasattr(found, "to_list") else np.asarray(found).tolist()) == expected


def test_deeper_rows_by_index_and_tiled():
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    with tf.Session() as sess:
        assert sess.run(tf.gather_nd(deep, [[0, 0, 1], [2, 0, 0]])).tolist() == [2, 4]
        assert sess.run(tf.where(tf.equal(deep, 4))).tolist() == [[2, 0, 0]]
        assert sess.run(tf.tile(deep, [1, 2, 1])).to_list() == [[[1, 2], [3], [1, 2], [3]], [], [[4], [4]]]
        assert sess.run(tf.tile(deep, [1, 1, 2])).to_list() == [[[1, 2, 1, 2], [3, 3]], [], [[4, 4]]]


def test_a_dimension_that_is_not_one_is_not_dropped():
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.squeeze(tf.ragged.constant(_ROWS), [1]))


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda r: tf.where(r > 1, r), ValueError),
        (lambda r: tf.gather_nd(r, [[0]], batch_dims=1), ValueError),
        (lambda r: tf.gather_nd(r, tf.placeholder(tf.int32, [None, None])), ValueError),
        (lambda r: tf.squeeze(r), ValueError),
        (lambda r: tf.tile(r, [[1, 1]]), ValueError),
    ],
)
def test_places_that_there_are_not(build, error):
    with pytest.raises(error):
        build(tf.ragged.constant([[1, 2], [3]]))


@pytest.mark.parametrize("multiples", [[0, 1], [1, 0], [2, 3]])
def test_rows_repeated(multiples):
    found = run(tf.tile(tf.ragged.constant([[1, 2], [], [3]]), multiples))
    assert found == [row * multiples[1] for row in [[1, 2], [], [3]]] * multiples[0]


def test_ranks_of_ragged_tensors():
    assert run(tf.rank(tf.ragged.constant(DEEP))) == 3


@pytest.mark.parametrize(
    ("rows", "multiples", "wanted"),
    [
        (ROWS, [2, 1], ROWS * 2),
        (ROWS, [1, 2], [row * 2 for row in ROWS]),
        (DEEP, [1, 2, 1], [row * 2 for row in DEEP]),
        (DEEP, [2, 1, 3], [[inner * 3 for inner in row] for row in DEEP] * 2),
        (ROWS, [0, 1], []),
    ],
)
def test_rows_are_tiled_dimension_by_dimension(rows, multiples, wanted):
    assert run(tf.tile(tf.ragged.constant(rows), multiples)) == wanted
    fed = tf.placeholder_with_default(multiples, [len(multiples)])
    assert run(tf.tile(tf.ragged.constant(rows), fed)) == wanted


def test_a_multiple_for_each_dimension():
    with pytest.raises(IndexError, match="2 dimensions"):
        tf.tile(tf.ragged.constant(ROWS), [2])
