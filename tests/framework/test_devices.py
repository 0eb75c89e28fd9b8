"""Device names: read, written, merged."""

import pytest

import everflow as tf
from everflow.framework import devices


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("/job:ps/task:1/gpu:0", "/job:ps/task:1/device:GPU:0"),
        ("/cpu", "/device:CPU:*"),
        ("cpu:0", "/device:CPU:0"),
        ("/Gpu:3", "/device:GPU:3"),
        ("/device:gpu:2", "/device:GPU:2"),
        ("/device:GPU:*", "/device:GPU:*"),
        ("/device:tpu:1", "/device:tpu:1"),
        ("/job:a/job:b", "/job:b"),
        ("/replica:0", "/replica:0"),
        ("", ""),
    ],
)
def test_names_have_one_form(given, canonical):
    assert devices.canonical_name(given) == canonical
    assert tf.DeviceSpec.from_string(given).to_string() == canonical
    assert tf.DeviceSpec().parse_from_string(given) == tf.DeviceSpec.from_string(canonical)


@pytest.mark.parametrize("given", ["/CPU:0/GPU:1", "/foo:1", "/replica:x", "/job", "/device:CPU", "/cpu:0:1"])
def test_names_that_are_none(given):
    with pytest.raises(ValueError):
        tf.DeviceSpec.from_string(given)
    with pytest.raises(ValueError):
        devices.check_valid(given)


def test_parts_are_of_their_types():
    spec = tf.DeviceSpec(job="a", replica="1", task=2.0, device_type="cpu", device_index="3")
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("a", 1, 2, "CPU", 3)
    with pytest.raises(ValueError):
        tf.DeviceSpec(task="x")


def test_specs_compare_by_what_they_name():
    one, same = tf.DeviceSpec(job="a"), tf.DeviceSpec.from_string("/job:a")
    assert one == same and hash(one) == hash(same)
    assert one != tf.DeviceSpec(job="b") and one != "/job:a"


def test_what_is_merged_in_wins():
    spec, over = tf.DeviceSpec.from_string("/job:a/cpu:0"), tf.DeviceSpec.from_string("/task:1/gpu:1")
    assert spec.make_merged_spec(over).to_string() == "/job:a/task:1/device:GPU:1"
    assert spec.to_string() == "/job:a/device:CPU:0"
    spec.merge_from(over)
    assert spec.to_string() == "/job:a/task:1/device:GPU:1"
    assert spec.replace(job=None, task=7).to_string() == "/task:7/device:GPU:1"


def test_the_innermost_request_wins():
    assert devices.merged_name("/job:a/cpu:0", "/task:1/gpu:1") == "/job:a/task:1/device:GPU:1"
    assert devices.canonical_name(None) == "" and devices.canonical_name(tf.DeviceSpec(job="a")) == "/job:a"
    with tf.Graph().as_default(), tf.device(devices.merge_device("/job:a/cpu:0")):
        assert tf.no_op().device == "/job:a/device:CPU:0"
        with tf.device("/gpu:1"):
            assert tf.no_op().device == "/job:a/device:GPU:1"
