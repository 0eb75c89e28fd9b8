"""tensorflow.python.debug.lib.profiling: how long nodes took, one by one and together."""

from __future__ import annotations

from everflow.protos.step_stats_pb2 import NodeExecStats


class ProfileDatum:
    """How long a node took once, and which line of which program made it."""

    def __init__(
        self,
        device_name: str,
        node_exec_stats: NodeExecStats,
        file_path: str,
        line_number: int,
        func_name: str,
        op_type: str,
    ) -> None:
        self.device_name, self.node_exec_stats, self.op_type = device_name, node_exec_stats, op_type
        self.file_path, self.line_number, self.func_name = file_path, line_number, func_name
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros

    @property
    def exec_time(self) -> int:
        """Microseconds from its start to its end, with what is done around the op."""
        return self.node_exec_stats.all_end_rel_micros


class AggregateProfile:
    """How long several nodes took together."""

    def __init__(self, profile_datum: ProfileDatum) -> None:
        self.total_op_time = self.total_exec_time = 0
        self._times: dict[str, int] = {}
        self.add(profile_datum)

    def add(self, profile_datum: ProfileDatum) -> None:
        """Count another one."""
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        key = f"{profile_datum.device_name}:{profile_datum.node_exec_stats.node_name}"
        self._times[key] = self._times.get(key, 0) + 1

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self._times)

    @property
    def node_exec_count(self) -> int:
        """How often they ran."""
        return sum(self._times.values())
