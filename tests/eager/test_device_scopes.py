"""`tf.device` when executing eagerly, with the CPU divided into several devices."""

import subprocess
import sys
import textwrap

import pytest

import everflow as tf

_CPU_0, _CPU_1 = (f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(2))


def test_operations_run_where_they_are_asked_to_and_on_resources_where_those_are():
    program = """
        import everflow as tf
        tf.enable_eager_execution()
        options = tf.config.experimental
        options.set_virtual_device_configuration(
            options.list_physical_devices("CPU")[0], [options.VirtualDeviceConfiguration()] * 2)
        with tf.device("/cpu:1"):
            a = tf.constant([1.0])
            b, v, queue = a + a, tf.Variable(1.0, use_resource=True), tf.queue.FIFOQueue(2, tf.float32)
            called = tf.function(lambda x: x + 1.0)(a)
        for value in [a, b, v, called, tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32), a + b, a.cpu()]:
            print(value.device)
        queue.enqueue(3.0)
        print(queue.dequeue().device)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == [_CPU_1] * 5 + [_CPU_0] * 2 + [_CPU_1]


def test_a_device_is_given_by_its_name():
    with pytest.raises(RuntimeError, match="give a name"):
        tf.device(lambda op: "/cpu:0")
    with pytest.raises(ValueError, match="by its name"):
        tf.device(tf.DeviceSpec(device_type="CPU"))
