"""Elements gathered from each row by the row of indices beside it."""

import pytest

import everflow as tf
from everflow.ops.ragged.batches import batch_gather, batch_gather_with_default
from tests.ops.ragged.rows import run

pytestmark = pytest.mark.usefixtures("own_graph")


def ragged(rows, **kwargs):
    return tf.ragged.constant(rows, **kwargs)


@pytest.mark.parametrize(
    "params, indices, gathered",
    [
        ([["a", "b"], ["c"]], [[1, 0, 0], [0]], [[b"b", b"a", b"a"], [b"c"]]),
        ([[["a"], ["b", "c"]], [["d"]]], [[1], [0, 0]], [[[b"b", b"c"]], [[b"d"], [b"d"]]]),
    ],
)
def test_ragged_by_ragged(params, indices, gathered):
    assert run(batch_gather(ragged(params), ragged(indices))) == gathered


def test_dense_beside_ragged():
    rows = ragged([["a", "b"], ["c"]])
    assert run(batch_gather(rows, [[0], [0]])) == [[b"a"], [b"c"]]
    assert run(batch_gather(rows, [1, 0])) == [[b"c"], [b"a", b"b"]]
    assert run(batch_gather([["a", "b"], ["c", "d"]], ragged([[0, 1, 1], [1]]))) == [[b"a", b"b", b"b"], [b"d"]]


@pytest.mark.parametrize(
    "indices", [lambda: 0, lambda: tf.placeholder(tf.int32), lambda: ragged([[0], [0], [0]])], ids=["0", "rank", "rows"]
)
def test_indices_that_do_not_fit(indices):
    with pytest.raises(ValueError):
        batch_gather(ragged([["a", "b"], ["c"]]), indices())


@pytest.mark.parametrize(
    "params, indices, gathered",
    [
        (lambda: ["a", "b", "c"], [0, 5], [b"a", b"$"]),
        (lambda: [["a", "b"], ["c", "d"]], [[0, -1], [1, 7]], [[b"a", b"$"], [b"d", b"$"]]),
        (lambda: ragged([["a", "b"], ["c"]]), [[1, 0, 9], [-1]], [[b"b", b"a", b"$"], [b"$"]]),
        (
            lambda: ragged([[["a"], ["b", "c"]], [["d"]]]),
            [[1, 9], [0, 0]],
            [[[b"b", b"c"], [b"$"]], [[b"d"], [b"d"]]],
        ),
    ],
)
def test_what_is_outside_is_the_default(params, indices, gathered):
    indices = ragged(indices) if len({len(row) for row in indices if isinstance(row, list)}) > 1 else indices
    indices = ragged(indices) if isinstance(params(), tf.RaggedTensor) and isinstance(indices, list) else indices
    assert run(batch_gather_with_default(params(), indices, "$")) == gathered


@pytest.mark.parametrize(("default", "wanted"), [("$", [["b", "$"], ["$", "c"]]), (["?"], [["b", "?"], ["?", "c"]])])
def test_an_index_beyond_its_own_row_gives_the_default(default, wanted):
    params = tf.ragged.constant([["a", "b"], ["c"]])
    indices = tf.ragged.constant([[1, 2], [1, 0]])
    found = run(batch_gather_with_default(params, indices, default))
    assert [[text.decode() for text in row] for row in found] == wanted


def test_a_default_takes_the_type_of_what_is_gathered():
    params = tf.ragged.constant([[1, 2], [3]], dtype=tf.int64)
    assert run(batch_gather_with_default(params, tf.ragged.constant([[0, 9], [0]]), -3)) == [[1, -3], [3]]
    with pytest.raises(ValueError, match="scalar or a vector"):
        batch_gather_with_default(params, tf.ragged.constant([[0], [0]]), [[1]])


def test_indices_go_into_the_uniform_dimensions_of_rows():
    params = tf.ragged.constant([[["a", "b"], ["c", "d"]], [["e", "f"]]], ragged_rank=1)
    indices = tf.ragged.constant([[[0], [1]], [[1]]], ragged_rank=1)
    assert run(tf.batch_gather(params, indices)) == [[[b"a"], [b"d"]], [[b"f"]]]
    assert run(tf.batch_gather(tf.ragged.constant([["a", "b"], ["c"]]), [[1, 0], [0, 0]])) == [
        [b"b", b"a"],
        [b"c", b"c"],
    ]
    with pytest.raises(ValueError, match="batch shape"):
        tf.batch_gather(tf.ragged.constant([["a"]]), [[[0]]])
