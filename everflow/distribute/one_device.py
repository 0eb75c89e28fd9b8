"""`tf.distribute.OneDeviceStrategy`: everything on one device, through the interface that several have."""

from __future__ import annotations

from everflow.distribute.device_maps import full_device
from everflow.distribute.reduction import mirrored_on
from everflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended, StrategyV2
from everflow.distribute.values import devices_of
from everflow.framework import nest
from everflow.framework.scopes import device
from everflow.ops.array.constants import constant


class OneDeviceStrategy(Strategy):
    """Variables and computations on one device: to try a program before it is spread over more.

    Args:
        device: The device.

    Example:
        >>> with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        ...     tf.distribute.has_strategy()
        True
    """

    def __init__(self, device):
        StrategyV2.__init__(self, OneDeviceExtended(self, device))


class OneDeviceStrategyV2(StrategyV2):
    """`tf.compat.v2.distribute.OneDeviceStrategy`."""

    __init__ = OneDeviceStrategy.__init__


class OneDeviceExtended(StrategyExtended):
    """What `OneDeviceStrategy` does: everything on its device."""

    def __init__(self, container_strategy, device):
        super().__init__(container_strategy)
        self._devices = (full_device(device),)

    def _create_variable(self, next_creator, **kwargs):
        with device(self._devices[0]):
            made = next_creator(**kwargs)
        made.distribute_strategy = self._container_strategy()
        return made

    def _call_for_each_replica(self, fn, args, kwargs):
        with device(self._devices[0]), _OneDeviceReplicaContext(self._container_strategy()):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op, value, destinations):
        return value

    def _broadcast_to(self, tensor, destinations):
        return mirrored_on(devices_of(destinations)[:1], lambda _: tensor)

    def _update(self, var, fn, args, kwargs, group):
        with device(self._devices[0]), self._updating(self._devices[0]):
            result = fn(var, *args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)


class _OneDeviceReplicaContext(ReplicaContext):
    """The only replica of an `OneDeviceStrategy`."""

    def __init__(self, strategy):
        super().__init__(strategy, constant(0))
