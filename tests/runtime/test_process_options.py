"""What tf.config set, as sessions take it."""

import pytest

from everflow.protos import config_pb2
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.runtime import devices
from everflow.runtime.process_options import PhysicalDevice, ProcessOptions, VirtualDeviceConfiguration

CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(devices, "gpu_count", lambda: 2)
    return [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(2)]


def test_options_that_nobody_set_are_those_of_an_empty_config():
    assert ProcessOptions().config_proto() == config_pb2.ConfigProto(
        gpu_options=config_pb2.GPUOptions(allow_growth=False),
        graph_options=config_pb2.GraphOptions(rewrite_options=RewriterConfig(disable_meta_optimizer=False)),
    )


def test_each_option_has_its_place():
    options = ProcessOptions(
        intra_op_threads=2,
        inter_op_threads=3,
        soft_placement=True,
        log_placement=True,
        jit=True,
        optimizer={"constant_folding": False, "remapping": True},
        disable_meta_optimizer=True,
    )
    config = options.config_proto()
    assert (config.intra_op_parallelism_threads, config.inter_op_parallelism_threads) == (2, 3)
    assert config.allow_soft_placement and config.log_device_placement
    assert config.graph_options.optimizer_options.global_jit_level == config_pb2.OptimizerOptions.ON_1
    rewriting = config.graph_options.rewrite_options
    assert (rewriting.constant_folding, rewriting.remapping) == (RewriterConfig.OFF, RewriterConfig.ON)
    assert rewriting.layout_optimizer == RewriterConfig.DEFAULT and rewriting.disable_meta_optimizer


def test_devices_that_are_visible(two_gpus):
    options = ProcessOptions()
    assert options.physical_devices() == [CPU, *two_gpus] == options.visible_devices()
    assert options.physical_devices("GPU") == two_gpus
    options.visible = [CPU, two_gpus[1]]
    config = options.config_proto()
    assert config.device_count["GPU"] == 1 and config.gpu_options.visible_device_list == "1"
    assert [d.device_type for d in options.logical_devices()] == ["CPU", "GPU"]
    assert options.visible_devices("CPU") == [CPU]


def test_a_cpu_in_parts_and_memory_that_grows(two_gpus):
    options = ProcessOptions(
        virtual={CPU: [VirtualDeviceConfiguration(), VirtualDeviceConfiguration(100)]},
        memory_growth={two_gpus[0]: True},
    )
    assert options.config_proto().device_count["CPU"] == 2 and options.config_proto().gpu_options.allow_growth
    assert [d.name[-5:] for d in options.logical_devices("CPU")] == ["CPU:0", "CPU:1"]
    assert VirtualDeviceConfiguration().memory_limit is None


def test_what_can_not_change_once_it_was_asked_for():
    options = ProcessOptions()
    options.check_unused("devices")
    options.config_proto()
    with pytest.raises(RuntimeError, match="devices cannot be modified"):
        options.check_unused("devices")
