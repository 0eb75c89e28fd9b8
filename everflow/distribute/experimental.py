"""tf.distribute.experimental: strategies that keep each variable in one place."""

from everflow.distribute.central_storage import CentralStorageStrategy, ParameterServerStrategy

__all__ = ["CentralStorageStrategy", "ParameterServerStrategy"]
