"""tf.distribute.experimental: strategies that keep each variable in one place, and what floors above add."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.framework.lazy_names import lazy_names

if TYPE_CHECKING:
    from everflow.distribute.central_storage import CentralStorageStrategy, ParameterServerStrategy
    from everflow.distribute.collective import CollectiveCommunication, MultiWorkerMirroredStrategy

__getattr__, __dir__ = lazy_names(__name__, __file__)
