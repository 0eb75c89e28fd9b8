"""tensorflow.python.ops.boosted_trees_ops: the op functions of boosted trees under shorter names, and their resources."""

from __future__ import annotations

from everflow.legacy import gen_ops
from everflow.ops.boosted_trees import (
    PRUNING_MODES,
    QuantileAccumulator,
    QuantileAccumulatorSaveable,
    TreeEnsemble,
)

__all__ = ["PruningMode", "QuantileAccumulator", "QuantileAccumulatorSaveable", "TreeEnsemble"]

# Names that aren't that of the op type without its beginning, and that name.
_OTHERS = {
    "get_bucket_boundaries": "boosted_trees_quantile_stream_resource_get_bucket_boundaries",
    "is_quantile_resource_initialized": "is_boosted_trees_quantile_stream_resource_initialized",
    "quantile_add_summaries": "boosted_trees_quantile_stream_resource_add_summaries",
    "quantile_flush": "boosted_trees_quantile_stream_resource_flush",
    "quantile_resource_deserialize": "boosted_trees_quantile_stream_resource_deserialize",
    "quantile_resource_handle_op": "boosted_trees_quantile_stream_resource_handle_op",
}


class PruningMode:
    """When nodes that gain nothing are cut off."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = PRUNING_MODES.values()

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The number of a mode by its name: none, pre or post; ValueError for others."""
        if mode not in PRUNING_MODES:
            raise ValueError(f"pruning_mode must be one of {', '.join(PRUNING_MODES)}, not {mode!r}")
        return PRUNING_MODES[mode]


def __getattr__(name: str):
    for op_function in (f"boosted_trees_{name}", _OTHERS.get(name, name)):
        if hasattr(gen_ops, op_function):
            return getattr(gen_ops, op_function)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
