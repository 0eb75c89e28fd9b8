"""Names that programs take from inside TensorFlow's `training.experimental.mixed_precision_global_state`."""

from __future__ import annotations

from everflow.config.optimizer import get_experimental_options


def __getattr__(name: str) -> bool:
    if name == "mixed_precision_graph_rewrite_is_enabled":
        return bool(get_experimental_options().get("auto_mixed_precision"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
