"""Resources that objects own, and files that belong to models."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.ops.functions import resources


class _Table(resources.TrackableResource):
    made = 0

    def _create_resource(self):
        self.made += 1
        return raw.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64)


def test_a_handle_is_made_once_when_it_is_asked_for():
    with tf.Graph().as_default():
        table = _Table()
        assert table.made == 0
        assert table.resource_handle is table.resource_handle and table.made == 1
        with pytest.raises(NotImplementedError, match="_create_resource"):
            _ = resources.CapturableResource().resource_handle


def test_trackers_are_told_of_resources():
    outer, inner = resources.ResourceTracker(), resources.ResourceTracker()
    with resources.resource_tracker_scope(outer):
        first = _Table()
        with resources.resource_tracker_scope(inner):
            second = _Table()
    third = _Table()
    assert outer.resources == [first, second] and inner.resources == [second] and third not in outer.resources


def test_a_resource_is_given_back_when_nobody_holds_it():
    given_back = []
    deleter = resources.CapturableResourceDeleter(lambda: given_back.append(1))
    del deleter
    assert given_back == [1]


def test_the_path_of_an_asset_is_a_tensor():
    with tf.Graph().as_default(), tf.Session() as session:
        asset = resources.TrackableAsset("/words.txt")
        assert session.run(asset.asset_path) == b"/words.txt"
