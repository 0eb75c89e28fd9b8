"""Names that programs take from inside TensorFlow's modules of cluster resolvers."""

from __future__ import annotations

from typing import Any

from everflow.distribute.cluster_resolver import TFConfigClusterResolver

_TF_CONFIG_ENV, _SESSION_MASTER_KEY, _RPC_LAYER_KEY, _TASK_KEY = "TF_CONFIG", "session_master", "rpc_layer", "task"


def _load_tf_config() -> dict[str, Any]:
    return TFConfigClusterResolver._config()


def _get_value_in_tfconfig(key: str, default: Any = None) -> Any:
    return _load_tf_config().get(key, default)
