"""Matrices of a checkpoint in the order of another vocabulary, and what the old one lacks."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.vocabulary_remapping import load_and_remap_matrix_initializer

OLD = np.arange(12, dtype=np.float32).reshape(4, 3)  # words a b c d by columns x y z


@pytest.fixture
def files(tmp_path):
    """A checkpoint with OLD, and vocabularies of rows and columns before and after."""
    words = {"old_row": "abcd", "new_row": "dqa", "old_col": "xyz", "new_col": "zxn"}
    for name, letters in words.items():
        (tmp_path / name).write_text("".join(f"{letter}\n" for letter in letters))
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("m", initializer=OLD)
        sess.run(v.initializer)
        path = tf.train.Saver([v]).save(sess, str(tmp_path / "model"), write_meta_graph=False)
    return path, {f"{name}_vocab_file": str(tmp_path / name) for name in words}


def loaded(sess, files, shape, rows=3, columns=3, which=("row", "col"), **options):
    path, names = files
    chosen = {k: v for k, v in names.items() if k.split("_")[1] in which}
    make = load_and_remap_matrix_initializer(path, "m", rows, columns, **chosen, **options)
    return sess.run(make(shape))


def test_rows_and_columns_in_a_new_order(sess, files):
    np.testing.assert_array_equal(loaded(sess, files, [3, 3]), [[11, 9, 0], [0, 0, 0], [2, 0, 0]])


def test_rows_alone(sess, files):
    found = loaded(sess, files, [3, 3], which=("row",), initializer=tf.ones_initializer())
    np.testing.assert_array_equal(found, [OLD[3], [1, 1, 1], OLD[0]])


def test_what_is_beyond_the_vocabulary_is_filled(sess, files):
    found = loaded(sess, files, [5, 4], num_row_oov_buckets=2, num_col_oov_buckets=1, initializer=tf.ones_initializer())
    np.testing.assert_array_equal(found, [[11, 9, 1, 1], [1] * 4, [2, 0, 1, 1], [1] * 4, [1] * 4])


def test_an_old_vocabulary_may_be_cut(sess, files):
    found = loaded(sess, files, [3, 3], which=("row",), old_row_vocab_size=2)
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 0], OLD[0]])


def test_a_part_begins_at_its_offset(sess, files):
    path, names = files
    make = load_and_remap_matrix_initializer(
        path, "m", 3, 3, old_row_vocab_file=names["old_row_vocab_file"], new_row_vocab_file=names["new_row_vocab_file"]
    )
    v = tf.get_variable("parts", [3, 3], initializer=make, partitioner=tf.fixed_size_partitioner(2))
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(v)), [OLD[3], [0, 0, 0], OLD[0]])


@pytest.mark.parametrize(
    ("shape", "dtype", "error"),
    [([3, 3], tf.float64, TypeError), ([3], tf.float32, ValueError), ([0, 3], tf.float32, ValueError),
     ([3, 4], tf.float32, ValueError), ([4, 3], tf.float32, ValueError)],
)  # fmt: skip
def test_shapes_and_types_that_do_not_fit(shape, dtype, error):
    with tf.Graph().as_default(), pytest.raises(error):
        load_and_remap_matrix_initializer("path", "m", 3, 3)(shape, dtype)
