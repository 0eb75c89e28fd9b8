"""The devices of a session and of this machine."""

import pytest

import everflow as tf
from everflow.runtime import devices

CPU = "/job:localhost/replica:0/task:0/device:CPU:"


def test_devices_of_a_session():
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        found = [d for d in sess.list_devices() if d.device_type == "CPU"]
    assert [d.name for d in found] == [CPU + "0", CPU + "1"]
    assert found[0].memory_limit_bytes > 0 and "CPU:0, CPU," in repr(found[0])
    local = devices.list_local_devices()
    assert local[0].name == "/device:CPU:0" and local[0].device_type == "CPU"


def named(gpus, monkeypatch, **options):
    monkeypatch.setattr(devices, "gpu_count", lambda: gpus)
    return [name.rpartition("device:")[2] for name in devices.device_names(tf.ConfigProto(**options))]


@pytest.mark.parametrize(
    ("gpus", "options", "names"),
    [
        (0, {}, ["CPU:0"]),
        (2, {}, ["CPU:0", "GPU:0", "GPU:1"]),
        (2, {"device_count": {"GPU": 1, "CPU": 2}}, ["CPU:0", "CPU:1", "GPU:0"]),
        (2, {"device_count": {"GPU": 0}}, ["CPU:0"]),
        (1, {"device_count": {"GPU": 5, "CPU": 0}}, ["CPU:0", "GPU:0"]),
        (3, {"gpu_options": tf.GPUOptions(visible_device_list="2,0")}, ["CPU:0", "GPU:0", "GPU:1"]),
    ],
)
def test_as_many_as_there_are_and_were_asked_for(monkeypatch, gpus, options, names):
    assert named(gpus, monkeypatch, **options) == names


def test_fewer_than_none_is_refused(monkeypatch):
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative: -1"):
        named(0, monkeypatch, device_count={"CPU": -1})


def test_devices_of_another_task():
    assert devices.device_names(None, "/job:a/replica:0/task:3")[0] == "/job:a/replica:0/task:3/device:CPU:0"


def test_incarnations_tell_sessions_apart():
    one, two = (tf.Session().list_devices()[0] for _ in range(2))
    assert one.name == two.name and one.incarnation != two.incarnation


def test_what_torch_was_built_for_is_known():
    assert devices.built_with() in ("cpu", "cuda", "rocm")
    assert (devices.cuda_capability() is None) is (devices.built_with() == "cpu")
