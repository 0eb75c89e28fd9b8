"""tf.config, each test with options of its own."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.runtime.process_options import PROCESS

# isort: split
from tensorflow.python.eager import context


@pytest.fixture(autouse=True)
def fresh_options():
    before = vars(PROCESS).copy()
    PROCESS.reset()
    yield
    vars(PROCESS).update(before)


experimental = tf.config.experimental


def test_devices():
    (cpu,) = experimental.list_physical_devices("CPU")
    assert cpu.name == "/physical_device:CPU:0" and cpu.device_type == "CPU"
    assert experimental.get_visible_devices("CPU") == [cpu]
    assert tf.config.experimental_list_devices()[0] == "/job:localhost/replica:0/task:0/device:CPU:0"
    with pytest.raises(ValueError):
        experimental.set_memory_growth(cpu, True)
    with pytest.raises(KeyError):
        experimental.get_memory_growth(cpu)


def test_a_cpu_in_parts():
    (cpu,) = experimental.list_physical_devices("CPU")
    parts = [experimental.VirtualDeviceConfiguration(), experimental.VirtualDeviceConfiguration()]
    experimental.set_virtual_device_configuration(cpu, parts)
    assert experimental.get_virtual_device_configuration(cpu) == parts
    assert [d.name[-5:] for d in experimental.list_logical_devices("CPU")] == ["CPU:0", "CPU:1"]
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sum(":CPU:" in d.name for d in sess.list_devices()) == 2
    with pytest.raises(RuntimeError):
        experimental.set_virtual_device_configuration(cpu, parts[:1])
    experimental.set_virtual_device_configuration(cpu, parts)


def test_options_reach_sessions():
    tf.config.set_soft_device_placement(True)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    tf.config.optimizer.set_jit(True)
    assert tf.config.get_soft_device_placement() and tf.config.optimizer.get_jit()
    assert tf.config.threading.get_intra_op_parallelism_threads() == 1
    assert tf.config.threading.get_inter_op_parallelism_threads() == 0
    assert tf.config.optimizer.get_experimental_options() == {
        "constant_folding": False,
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }
    with tf.Graph().as_default(), tf.device("/device:GPU:7"):
        x = tf.constant(1.0)
        assert tf.Session().run(x) == 1
    with pytest.raises(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(2)
    with pytest.raises(ValueError):
        tf.config.optimizer.set_experimental_options({"no_such_thing": True})


def test_visible_devices():
    (cpu,) = experimental.list_physical_devices("CPU")
    experimental.set_visible_devices([], "GPU")
    experimental.set_visible_devices(cpu)
    assert experimental.get_visible_devices("GPU") == []
    with pytest.raises(ValueError):
        experimental.set_visible_devices([cpu], "GPU")


def test_eager_policies():
    experimental.set_device_policy("explicit")
    assert experimental.get_device_policy() == "explicit"
    with pytest.raises(ValueError):
        experimental.set_device_policy("no such")
    experimental.set_synchronous_execution(False)
    assert not experimental.get_synchronous_execution()


def test_a_rewrite_goes_back_to_its_default_and_one_takes_a_number():
    optimizer = tf.config.optimizer
    optimizer.set_experimental_options({"constant_folding": True, "min_graph_nodes": 7})
    optimizer.set_experimental_options({"constant_folding": None})
    assert "constant_folding" not in optimizer.get_experimental_options()
    assert context.context().config.graph_options.rewrite_options.min_graph_nodes == 7


def test_a_context_that_begins_anew():
    with context.eager_mode():
        x = tf.contrib.eager.Variable(2.0)
        assert float(x * 3.0) == 6.0 and context.context()._initialized
        with pytest.raises(RuntimeError):
            tf.config.threading.set_intra_op_parallelism_threads(1)
        context._context = None
        assert context._context is not None and not context.context()._initialized
        tf.config.threading.set_intra_op_parallelism_threads(1)
        (cpu,) = experimental.list_physical_devices("CPU")
        experimental.set_virtual_device_configuration(cpu, [experimental.VirtualDeviceConfiguration()] * 2)
        with tf.device("/cpu:1"):
            assert tf.constant(1.0).device.endswith("CPU:1")
        assert float(x * 3.0) == 6.0  # what was made before is still there
        context._context = None
        assert len(experimental.list_logical_devices("CPU")) == 1
