"""tensorflow.python.distribute.summary_op_util: summaries are written by one replica only."""

from __future__ import annotations

from everflow.distribute.context import get_replica_context
from everflow.framework.static_values import constant_value


def skip_summary() -> bool | int | None:
    """Whether a summary that is made now is left to another replica: to the first one."""
    replica = get_replica_context()
    if replica is None:
        return None
    number = replica.replica_id_in_sync_group
    number = number if isinstance(number, int) else constant_value(number)
    return number and number > 0
