"""Collections of a graph: named lists that library and user code put things in, and the names that the library uses."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any


class GraphKeys:
    """Standard names of graph collections, such as `tf.GraphKeys.GLOBAL_VARIABLES`.

    Example:
        >>> v = tf.get_variable("v", [])
        >>> tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [v]
        True
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"

    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"

    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"

    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"

    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
    _VARIABLE_COLLECTIONS = (
        GLOBAL_VARIABLES,
        LOCAL_VARIABLES,
        METRIC_VARIABLES,
        MODEL_VARIABLES,
        TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES,
        CONCATENATED_VARIABLES,
        TRAINABLE_RESOURCE_VARIABLES,
    )
    # Deprecated name of GLOBAL_VARIABLES; TensorFlow warns on use.
    VARIABLES = GLOBAL_VARIABLES


class GraphCollections:
    """The collection methods of a Graph."""

    def __init__(self) -> None:
        self._collections: dict[Hashable, list[Any]] = {}

    @property
    def collections(self) -> list[Hashable]:
        """The names of all collections."""
        return list(self._collections)

    def _check_not_finalized(self) -> None:
        """Raise where nothing may be added any more; a graph knows."""
        raise NotImplementedError

    def get_all_collection_keys(self) -> list[str]:
        """The names of all collections that are strings: what the library keeps for itself is under tuples."""
        return [k for k in self._collections if isinstance(k, str)]

    def add_to_collection(self, name: Hashable, value: Any) -> None:
        """Append a value to a collection."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: str | Iterable[Hashable], value: Any) -> None:
        """Append a value to each of several collections (a name or a sequence of names)."""
        names = (names,) if isinstance(names, str) else set(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Hashable) -> list[Any]:
        """The collection's own list: changes to it change the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Hashable, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with `scope`, of its items whose names match that regular expression at their start."""
        items = self._collections.get(name, [])
        if scope is None or not items:
            return list(items)
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def clear_collection(self, name: Hashable) -> None:
        """Empty a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)
