"""Factors of sparse matrices by weighted alternating least squares. Numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf

_DRAW = np.random.RandomState(0)
MATRIX = _DRAW.rand(5, 7).astype(np.float32) * (_DRAW.rand(5, 7) > 0.4)
ROWS, COLUMNS = _DRAW.rand(5, 3).astype(np.float32), _DRAW.rand(7, 3).astype(np.float32)


def sparse():
    return tf.SparseTensor(np.argwhere(MATRIX != 0), MATRIX[MATRIX != 0], [5, 7])


CASES = [
    ({"row_weights": None, "col_weights": None}, [0.27623, 0.0, 3.5], [0.07428, 0.0, 3.5]),
    ({"row_weights": [[0.1, 0.2, 0.3, 0.4, 0.5]], "col_weights": [[0.2] * 7], "regularization": 0.5}, [0.66885, 3.2284, 4.36], [1.02609, 0.19162, 4.36]),
    ({"regularization": 0.1, "num_row_shards": 2, "num_col_shards": 3, "use_factors_weights_cache": False, "use_gramian_cache": False}, [1.35337, 1.0688, 20.5], [0.33143, 0.85853, 20.5]),
]  # fmt: skip


@pytest.mark.parametrize("options, of_rows, of_columns", CASES)
def test_a_sweep_over_rows_and_one_over_columns(options, of_rows, of_columns):
    with tf.Graph().as_default(), tf.Session() as session:
        row_init = np.array_split(ROWS, options.get("num_row_shards", 1))
        col_init = np.array_split(COLUMNS, options.get("num_col_shards", 1))
        model = tf.contrib.factorization.WALSModel(5, 7, 3, row_init=row_init, col_init=col_init, **options)
        rows = model.update_row_factors(sp_input=sparse())
        columns = model.update_col_factors(sp_input=tf.sparse_transpose(sparse()), transpose_input=True)
        session.run(model.initialize_op)
        session.run(model.worker_init)
        for prepare, begin, updated, expected in (
            (model.row_update_prep_gramian_op, model.initialize_row_update_op, rows, of_rows),
            (model.col_update_prep_gramian_op, model.initialize_col_update_op, columns, of_columns),
        ):
            session.run(prepare)
            session.run(begin)
            np.testing.assert_allclose(session.run(updated)[2:], expected, atol=2e-5)
        written = np.concatenate(session.run(model.col_factors))
        assert written.shape == (7, 3) and not np.allclose(written, COLUMNS)
        # A row of the matrix, projected, is what its update gives.
        projected = model.project_row_factors(tf.sparse_slice(sparse(), [0, 0], [1, 7]), projection_weights=[1.0])
        assert session.run(projected).shape == (1, 3)


def test_an_estimator():
    made = tf.contrib.factorization.WALSMatrixFactorization(
        5, 7, 3, regularization_coeff=0.5, row_init=ROWS, col_init=COLUMNS, row_weights=None, col_weights=None, max_sweeps=3
    )  # fmt: skip

    def input_fn():
        features = {made.INPUT_ROWS: sparse(), made.INPUT_COLS: tf.sparse_transpose(sparse())}
        return {**features, made.PROJECT_ROW: tf.constant(True)}, None

    made.fit(input_fn=input_fn, steps=6)
    np.testing.assert_allclose(made.get_row_factors()[0][0], [0.024, 0.0202, 0.0219], atol=1e-4)
    np.testing.assert_allclose(made.get_col_factors()[0][0], [0.0552, 0.0415, 0.0468], atol=1e-4)
    results = made.evaluate(input_fn=input_fn, steps=1)
    assert results["loss"] == pytest.approx(0.72761, abs=1e-4) and results["global_step"] == 3
    np.testing.assert_allclose(next(made.get_projections(input_fn)), [0.024, 0.0202, 0.0219], atol=1e-4)


def test_what_does_not_fit():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="col_weights"):
            tf.contrib.factorization.WALSModel(5, 7, 3, row_weights=None)
        model = tf.contrib.factorization.WALSModel(5, 7, 3)
        with pytest.raises(TypeError, match="SparseTensor"):
            model.update_row_factors(sp_input=MATRIX)
