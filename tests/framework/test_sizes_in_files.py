"""What a checkpoint says of sizes is checked against what it has, before memory is taken."""

import numpy as np
import pytest

import everflow as tf
from everflow.formats.bundle import BundleReader, BundleWriter


def _claim(monkeypatch, change):
    """Let entries of checkpoints say what `change(entry)` makes of them."""
    read = BundleReader._entry

    def changed(self, name):
        entry = read(self, name)
        copy = type(entry)()
        copy.CopyFrom(entry)
        change(copy)
        return copy

    monkeypatch.setattr(BundleReader, "_entry", changed)


def _resize(entry, size):
    entry.shape.dim[0].size = size


@pytest.mark.parametrize(
    "values", [np.arange(4.0), np.array([b"a", b"b", b"c", b"d"], object)], ids=["numbers", "strings"]
)
@pytest.mark.parametrize("size", [1 << 36, -4])
def test_a_checkpoint_that_claims_other_shapes_is_damaged(tmp_path, monkeypatch, values, size):
    writer = BundleWriter(str(tmp_path / "model"))
    writer.add("v", values)
    writer.finish()
    _claim(monkeypatch, lambda entry: _resize(entry, size))
    with pytest.raises(tf.errors.DataLossError):
        BundleReader(str(tmp_path / "model")).read("v")


def test_parts_that_do_not_cover_a_claimed_shape(tmp_path, monkeypatch):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    assert BundleReader(path).read("v").shape == (4, 2)
    _claim(monkeypatch, lambda entry: _resize(entry, 1 << 40))
    with pytest.raises(tf.errors.NotFoundError, match="don't cover"):
        BundleReader(path).read("v")
