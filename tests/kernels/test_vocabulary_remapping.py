"""Rows and columns of a checkpoint's matrix in the order of another vocabulary."""

import numpy as np
import pytest

import everflow as tf

OLD = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture
def files(tmp_path):
    for name, words in {"old": "knitting\neminem\nkangaroo\n", "new": "eminem\nspeaker\nkangaroo\nknitting\n"}.items():
        (tmp_path / name).write_text(words)
    return tmp_path


def remapping(files, **options):
    given = {"new_vocab_offset": 0, "num_new_vocab": 4, "old_vocab_size": -1, **options}
    return tf.raw_ops.GenerateVocabRemapping(
        new_vocab_file=str(files / "new"), old_vocab_file=str(files / "old"), **given
    )


@pytest.mark.parametrize(
    ("options", "places", "present"),
    [
        ({}, [1, -1, 2, 0], 3),
        ({"new_vocab_offset": 1, "num_new_vocab": 2}, [-1, 2], 1),
        ({"old_vocab_size": 2}, [1, -1, -1, 0], 2),
    ],
)
def test_words_that_were_there_before(sess, files, options, places, present):
    found = sess.run(remapping(files, **options))
    assert found.remapping.tolist() == places and found.num_present == present


def test_words_that_are_not_enough(sess, files):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(remapping(files, num_new_vocab=5))


@pytest.fixture
def checkpoint(sess, tmp_path):
    prefix = str(tmp_path / "model")
    sess.run(
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=["w", "v"],
            shape_and_slices=["", ""],
            tensors=[tf.constant(OLD), tf.constant(OLD[0])],
        )
    )
    return prefix


def loaded(checkpoint, rows, columns, values, name="w", shape=None):
    shape = shape or (len(rows), len(columns) or 2)
    return tf.raw_ops.LoadAndRemapMatrix(
        ckpt_path=checkpoint,
        old_tensor_name=name,
        row_remapping=np.array(rows, np.int64),
        col_remapping=np.array(columns, np.int64),
        initializing_values=np.array(values, np.float32),
        num_rows=shape[0],
        num_cols=shape[1],
    )


def test_rows_and_columns_are_moved_and_filled_up(sess, checkpoint):
    assert sess.run(loaded(checkpoint, [2, 0], [], [])).tolist() == [[4, 5], [0, 1]]
    assert sess.run(loaded(checkpoint, [1, -1], [1, 0], [7, 8])).tolist() == [[3, 2], [7, 8]]
    assert sess.run(loaded(checkpoint, [1], [0, -1, 1], [9])).tolist() == [[2, 9, 3]]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (([3], [], []), (tf.errors.InvalidArgumentError, tf.errors.InternalError)),
        (([-1], [], [1.0]), tf.errors.InvalidArgumentError),
        (([0], [], [1.0]), tf.errors.InvalidArgumentError),
        (([0], [], [], "v"), tf.errors.InvalidArgumentError),
        (([0], [], [], "none"), tf.errors.NotFoundError),
    ],
)
def test_what_does_not_fit(sess, checkpoint, given, error):
    matrix = loaded(checkpoint, *given)
    with pytest.raises(error):
        sess.run(matrix)
