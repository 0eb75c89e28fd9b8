"""Functions mapped over the rows of ragged tensors."""

import pytest

import everflow as tf
from everflow.ops.ragged.mapping import RaggedTensorType, map_fn
from tests.ops.ragged.rows import DEEP, ROWS, run

pytestmark = pytest.mark.usefixtures("own_graph")


def test_rows_to_numbers():
    assert run(map_fn(tf.reduce_sum, tf.ragged.constant(ROWS))) == [3, 0, 12]


def test_rows_to_rows():
    mapped = map_fn(lambda row: row + 1, tf.ragged.constant(ROWS), RaggedTensorType(tf.int32, 1), infer_shape=False)
    assert run(mapped) == [[2, 3], [], [4, 5, 6]]


def test_ragged_rows_to_ragged_rows():
    kind = RaggedTensorType(tf.int32, 2)
    assert run(map_fn(lambda row: row, tf.ragged.constant(DEEP), kind, infer_shape=False)) == DEEP


def test_numbers_to_rows_beside_a_structure():
    kinds = {"rows": RaggedTensorType(tf.int32, 1), "sums": tf.int32}
    elems = (tf.constant([2, 0, 1]), tf.ragged.constant(ROWS))
    made = map_fn(
        lambda e: {"rows": tf.range(e[0]), "sums": tf.reduce_sum(e[1])}, elems, dtype=kinds, infer_shape=False
    )
    assert run(made["rows"]) == [[0, 1], [], [0]]
    assert run(made["sums"]) == [3, 0, 12]


@pytest.mark.parametrize(
    "kind", [RaggedTensorType(tf.int32, 2), RaggedTensorType(tf.int32, 0), RaggedTensorType(tf.float32, 1)]
)
def test_results_of_another_kind(kind):
    with pytest.raises(ValueError):
        map_fn(lambda row: row, tf.ragged.constant(ROWS), dtype=kind)


def test_no_rows_make_no_rows():
    none = tf.ragged.constant([], ragged_rank=1, dtype=tf.int32)
    assert run(map_fn(lambda x: x, none, dtype=RaggedTensorType(tf.int32, 1))) == []


def test_row_splits_of_another_type_are_refused():
    kind = RaggedTensorType(tf.int32, 2, row_splits_dtype=tf.int32)
    with pytest.raises(ValueError, match="row_splits of int32"):
        map_fn(tf.RaggedTensor.from_tensor, tf.constant([[[1, 2]]]), dtype=kind)
