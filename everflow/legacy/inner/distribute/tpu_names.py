"""tensorflow.python.distribute.tpu_strategy, where `TPUStrategy` is the class of version 2 and that of 1 says so."""

from __future__ import annotations

import contextlib
from typing import Any

from everflow.framework.scopes import executing_eagerly, init_scope
from everflow.tpu import strategy

TPUStrategy, TPUStrategyV1 = strategy.TPUStrategyV2, strategy.TPUStrategy


def get_tpu_system_metadata(tpu_cluster_resolver: Any) -> Any:
    """The TPU cores that a resolver leads to, their hosts and all devices."""
    return strategy._query_tpu_system_metadata(
        tpu_cluster_resolver.master(), cluster_def=tpu_cluster_resolver.cluster_spec(), query_topology=False
    )


@contextlib.contextmanager
def maybe_init_scope() -> Any:
    """Eagerly nothing; in a graph, a scope outside of functions and loops."""
    if executing_eagerly():
        yield
    else:
        with init_scope():
            yield
