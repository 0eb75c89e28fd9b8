"""The devices of a session and of this machine."""

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
