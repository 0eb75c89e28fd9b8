"""tensorflow.python.distribute.strategy_combinations: strategies and optimizers by name, for tests."""

from __future__ import annotations

from typing import Any

from everflow.config import experimental as config
from everflow.distribute.central_storage import CentralStorageStrategyV2 as CentralStorageStrategy
from everflow.distribute.context import get_strategy
from everflow.distribute.mirrored import MirroredStrategyV2 as MirroredStrategy
from everflow.distribute.one_device import OneDeviceStrategyV2 as OneDeviceStrategy
from everflow.keras import optimizers as keras_optimizers
from everflow.legacy.inner.distribute.combinations import NamedDistribution, NamedObject, combine
from everflow.legacy.inner.test_combinations import Combination
from everflow.train import adam, adaptive, gradient_descent

# --- strategies -----------------------------------------------------------------------------------


def _no_tpu() -> Any:
    raise NotImplementedError("There are no TPUs here, and so no strategy for them")


def _one_device(name: str, device: str, gpus: int | None = None) -> NamedDistribution:
    return NamedDistribution(name, lambda: OneDeviceStrategy(device), required_gpus=gpus)


def _mirrored(name: str, *devices: str, gpus: int | None = None) -> NamedDistribution:
    return NamedDistribution(name, lambda: MirroredStrategy(list(devices)), required_gpus=gpus)


default_strategy = NamedDistribution("Default", get_strategy)
one_device_strategy = _one_device("OneDeviceCPU", "/cpu:0")
one_device_strategy_gpu = _one_device("OneDeviceGPU", "/gpu:0", 1)
one_device_strategy_on_worker_1 = _one_device("OneDeviceOnWorker1CPU", "/job:worker/replica:0/task:1/cpu:0")
one_device_strategy_gpu_on_worker_1 = _one_device("OneDeviceOnWorker1GPU", "/job:worker/replica:0/task:1/gpu:0", 1)
mirrored_strategy_with_one_cpu = _mirrored("Mirrored1CPU", "/cpu:0")
mirrored_strategy_with_one_gpu = _mirrored("Mirrored1GPU", "/gpu:0", gpus=1)
mirrored_strategy_with_gpu_and_cpu = _mirrored("MirroredCPUAndGPU", "/gpu:0", "/cpu:0", gpus=1)
mirrored_strategy_with_two_gpus = _mirrored("Mirrored2GPUs", "/gpu:0", "/gpu:1", gpus=2)
mirrored_strategy_with_cpu_1_and_2 = _mirrored("Mirrored2CPU", "/cpu:1", "/cpu:2")
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs", lambda: CentralStorageStrategy(["/gpu:0", "/gpu:1"]), required_gpus=2
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", lambda: CentralStorageStrategy(["/gpu:0", "/cpu:0"]), required_gpus=1
)
tpu_strategy, tpu_strategy_one_step, tpu_strategy_one_core, tpu_strategy_one_step_one_core = (
    NamedDistribution(name, _no_tpu, required_tpu=True)
    for name in ("TPU", "TPUOneStep", "TPUOneCore", "TPUOneStepOneCore")
)

# --- optimizers -----------------------------------------------------------------------------------

gradient_descent_optimizer_v1_fn = NamedObject(
    "GradientDescentV1", lambda: gradient_descent.GradientDescentOptimizer(0.2)
)
adagrad_optimizer_v1_fn = NamedObject("AdagradV1", lambda: adaptive.AdagradOptimizer(0.001))
adam_optimizer_v1_fn = NamedObject("AdamV1", lambda: adam.AdamOptimizer(0.001, epsilon=1))
rmsprop_optimizer_v1_fn = NamedObject("RmsPropV1", lambda: adaptive.RMSPropOptimizer(0.001))
gradient_descent_optimizer_keras_v2_fn = NamedObject("GradientDescentKerasV2", lambda: keras_optimizers.SGD(0.2))
adagrad_optimizer_keras_v2_fn = NamedObject("AdagradKerasV2", lambda: keras_optimizers.Adagrad(0.001))
adam_optimizer_keras_v2_fn = NamedObject("AdamKerasV2", lambda: keras_optimizers.Adam(0.001, epsilon=1.0))
rmsprop_optimizer_keras_v2_fn = NamedObject("RmsPropKerasV2", lambda: keras_optimizers.RMSprop(0.001))

# --- lists of them --------------------------------------------------------------------------------

graph_and_eager_modes = ["graph", "eager"]
optimizers_v1 = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]
optimizers_v2 = [gradient_descent_optimizer_keras_v2_fn, adagrad_optimizer_keras_v2_fn]
optimizers_v1_and_v2 = optimizers_v1 + optimizers_v2
strategies_minus_tpu = [
    default_strategy,
    one_device_strategy,
    one_device_strategy_gpu,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step]
_WITH_OPTIMIZERS = [one_device_strategy, mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus]


def distributions_and_v1_optimizers() -> list[Combination]:
    """Strategies with each optimizer of tf.train."""
    return combine(distribution=_WITH_OPTIMIZERS, optimizer_fn=optimizers_v1)


def distributions_and_v2_optimizers() -> list[Combination]:
    """Strategies with each optimizer of Keras."""
    return combine(distribution=_WITH_OPTIMIZERS, optimizer_fn=optimizers_v2)


def distributions_and_v1_and_v2_optimizers() -> list[Combination]:
    """Strategies with each optimizer."""
    return combine(distribution=_WITH_OPTIMIZERS, optimizer_fn=optimizers_v1_and_v2)


def strategy_minus_tpu_combinations() -> list[Combination]:
    """Strategies without TPUs, in both modes."""
    return combine(distribution=strategies_minus_tpu, mode=graph_and_eager_modes)


def tpu_strategy_combinations() -> list[Combination]:
    """Strategies for TPUs, in graphs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Combination]:
    """All of these."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> list[Combination]:
    """Strategies that a program has to ask for, without TPUs, in both modes."""
    return combine(distribution=strategies_minus_tpu[1:], mode=graph_and_eager_modes)


def all_strategy_combinations_minus_default() -> list[Combination]:
    """Strategies that a program has to ask for."""
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Divide the first CPU into so many devices, unless it is divided into as many already."""
    if num_virtual_cpus < 1:
        raise ValueError(f"At least one CPU is wanted, not {num_virtual_cpus}")
    first = config.list_physical_devices("CPU")[0]
    parts = config.get_virtual_device_configuration(first)
    if parts is None or len(parts) < num_virtual_cpus:
        config.set_virtual_device_configuration(first, [config.VirtualDeviceConfiguration()] * num_virtual_cpus)
