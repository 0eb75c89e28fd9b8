"""Damaged checkpoints and models: a flipped bit, a cut or a missing file is an error that names the file, never wrong
values.
"""

from __future__ import annotations

import glob
import os
import random
import shutil

import numpy as np
import pytest

import everflow as tf
from everflow.formats.bundle import BundleReader, BundleWriter
from everflow.formats.checkpoint import open_checkpoint
from everflow.formats.old_checkpoint import write_old_checkpoint
from everflow.formats.slices import TensorSlice

ROUNDS = 300
VALUES = {
    "net/weights": np.arange(60, dtype=np.float32).reshape(3, 20),
    "net/bias": np.ones([7], np.float16),
    "step": np.array(12, np.int64),
    "words": np.array([b"one", b"", b"three" * 40], dtype=object),
    "flags": np.array([True, False]),
    "empty": np.zeros([0, 3], np.float32),
}


def _write_new(prefix):
    writer = BundleWriter(prefix)
    for name, value in VALUES.items():
        writer.add(name, value, tf.string if value.dtype == object else None)
    for row in range(2):
        writer.add_slice("parts", [4, 3], TensorSlice(((row * 2, 2), (0, 3))), np.full([2, 3], row, np.float32))
    writer.finish()


def _write_old(path):
    numbers = {k: v for k, v in VALUES.items() if v.size}
    rows = [
        (n, list(v.shape), TensorSlice.full(v.ndim), v, tf.string if v.dtype == object else tf.as_dtype(v.dtype))
        for n, v in numbers.items()
    ]
    write_old_checkpoint(path, rows)


def _damage(data, rng):
    """(what was done, the bytes after it)"""
    kind = rng.choice(["bit", "cut", "byte", "zeros"])
    at = rng.randrange(len(data))
    if kind == "bit":
        return f"bit at {at}", data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if kind == "cut":
        return f"cut at {at}", data[:at]
    if kind == "byte":
        return f"byte at {at}", data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    return f"zeros from {at}", data[:at] + bytes(min(64, len(data) - at)) + data[at + 64 :]


def _read_all(path):
    reader = open_checkpoint(path)
    return {name: reader.read(name) for name in reader.names()}


@pytest.mark.parametrize("kind", ["index", "data", "old"])
def test_damage_is_seen(tmp_path, kind):
    prefix = str(tmp_path / "model")
    (_write_old if kind == "old" else _write_new)(prefix)
    path = {"index": prefix + ".index", "data": prefix + ".data-00000-of-00001", "old": prefix}[kind]
    with open(path, "rb") as f:
        whole = f.read()
    good = _read_all(prefix)
    rng = random.Random(7)
    seen = 0
    for _ in range(ROUNDS):
        what, damaged = _damage(whole, rng)
        with open(path, "wb") as f:
            f.write(damaged)
        try:
            values = _read_all(prefix)
        except tf.errors.DataLossError as e:
            assert path in e.message, (what, e.message)
            seen += 1
            continue
        # Padding that nothing depends on.
        assert values.keys() == good.keys(), what
        for name, value in values.items():
            np.testing.assert_array_equal(value, good[name], err_msg=what)
    assert seen > ROUNDS * 0.5


def test_the_tensor_is_named(tmp_path):
    prefix = str(tmp_path / "model")
    _write_new(prefix)
    path = prefix + ".data-00000-of-00001"
    with open(path, "r+b") as f:
        f.seek(3)
        f.write(b"\xff")
    with pytest.raises(tf.errors.DataLossError, match=r"model\.data-00000-of-00001.*net/weights"):
        BundleReader(prefix).read("net/weights")
    os.remove(path)
    with pytest.raises(tf.errors.DataLossError, match=r"model\.data-00000-of-00001 is missing"):
        BundleReader(prefix).read("net/weights")


def test_mapped_values_are_checked_and_leave_the_file_alone(tmp_path):
    prefix = str(tmp_path / "big")
    value = np.arange(3 << 20, dtype=np.float32)
    writer = BundleWriter(prefix)
    writer.add("v", value)
    writer.finish()
    mapped = BundleReader(prefix).read_mapped("v")
    np.testing.assert_array_equal(mapped, value)
    mapped[:] = 0
    np.testing.assert_array_equal(BundleReader(prefix).read("v"), value)
    with open(prefix + ".data-00000-of-00001", "r+b") as f:
        f.seek(9 << 20)
        f.write(b"\xff\xff")
    with pytest.raises(tf.errors.DataLossError, match="tensor v"):
        BundleReader(prefix).read_mapped("v")


def test_a_damaged_checkpoint_fails_in_the_session(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=np.arange(100, dtype=np.float32))
        sess.run(v.initializer)
        saver = tf.train.Saver()
        path = saver.save(sess, str(tmp_path / "model"))
        with open(path + ".data-00000-of-00001", "r+b") as f:
            f.write(b"\xff")
        with pytest.raises(tf.errors.DataLossError, match=r"model\.data-00000-of-00001.*tensor v"):
            saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(v), np.arange(100))


def _export(folder):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        y = tf.matmul(x, w, name="y")
        sess.run(w.initializer)
        tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": y})
        tf.train.Saver().save(sess, folder + "/plain")


@pytest.mark.parametrize("name", ["saved_model.pb", "plain.meta"])
def test_damaged_graphs_are_errors(tmp_path, name):
    """Graph files have no checksums: what still parses is taken as it is, but nothing may fail in a way that can't be
    caught.
    """
    good = str(tmp_path / "good")
    _export(good)
    with open(os.path.join(good, name), "rb") as f:
        whole = f.read()
    rng = random.Random(3)
    errors = 0
    for _ in range(60):
        what, damaged = _damage(whole, rng)
        path = os.path.join(good, name)
        with open(path, "wb") as f:
            f.write(damaged)
        with tf.Graph().as_default(), tf.Session() as sess:
            try:
                if name == "saved_model.pb":
                    tf.saved_model.load(sess, ["serve"], good)
                else:
                    tf.train.import_meta_graph(path)
            except (
                OSError,
                ValueError,
                KeyError,
                TypeError,
                RuntimeError,
                NotImplementedError,
                tf.errors.OpError,
            ) as e:
                assert str(e), what
                errors += 1
    assert errors > 5


def test_a_cut_graph_names_its_file(tmp_path):
    good = str(tmp_path / "good")
    _export(good)
    for name in ("saved_model.pb", "plain.meta"):
        path = os.path.join(good, name)
        with open(path, "r+b") as f:
            f.truncate(os.path.getsize(path) - 5)
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(OSError, match="saved_model.pb"):
            tf.saved_model.load(sess, ["serve"], good)
        with pytest.raises(Exception, match="plain.meta"):
            tf.train.import_meta_graph(os.path.join(good, "plain.meta"))


def test_a_missing_shard_is_named(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.device("/cpu:0"):
            tf.get_variable("a", initializer=1.0)
        tf.get_variable("b", initializer=2.0)
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver(sharded=True)
        path = saver.save(sess, str(tmp_path / "model"))
        shards = sorted(glob.glob(path + ".data-*"))
        assert len(shards) == 2
        shutil.move(shards[1], str(tmp_path / "elsewhere"))
        with pytest.raises(tf.errors.DataLossError, match=os.path.basename(shards[1])):
            saver.restore(sess, path)
