"""Whole files by their ops."""

import numpy as np
import pytest

import everflow as tf


def test_there_and_back_also_into_a_new_folder(sess, tmp_path):
    path = str(tmp_path / "new" / "deeper" / "a.bin")
    sess.run(tf.write_file(path, b"\x00\xff line\n"))
    assert sess.run(tf.read_file(path)) == b"\x00\xff line\n"
    sess.run(tf.write_file(path, ""))
    assert sess.run(tf.read_file(path)) == b""


def test_patterns_give_sorted_names(sess, tmp_path):
    for name in ("b.txt", "a.txt", "c.bin"):
        (tmp_path / name).write_text("x")
    several = tf.matching_files([str(tmp_path / "*.txt"), str(tmp_path / "c.*")])
    assert sess.run(several).tolist() == [str(tmp_path / n).encode() for n in ("a.txt", "b.txt", "c.bin")]
    assert sess.run(tf.matching_files(str(tmp_path / "none*"))).shape == (0,)


def test_what_can_not_be(sess, tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(tf.read_file(str(tmp_path / "none")))
    many = tf.placeholder_with_default([["a"]], None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar or vector"):
        sess.run(tf.matching_files(many))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.read_file(many))


def test_a_tensor_that_lies_in_a_file(sess, tmp_path):
    np.arange(6, dtype=np.float32).tofile(tmp_path / "numbers")
    where = {"dtype": tf.float32, "memory_region_name": str(tmp_path / "numbers")}
    found = tf.raw_ops.ImmutableConst(shape=[2, 2], **where)
    assert found.shape.as_list() == [2, 2] and sess.run(found).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    with pytest.raises(tf.errors.InternalError, match="24 bytes"):
        sess.run(tf.raw_ops.ImmutableConst(shape=[9], **where))
