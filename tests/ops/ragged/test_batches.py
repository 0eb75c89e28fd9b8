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
