"""A summary writer that writes nothing: tests ask it what it was given."""

from __future__ import annotations

from typing import ClassVar

from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.summary_pb2 import Summary
from everflow.summary import writer
from everflow.summary.writer import FileWriterCache


class FakeSummaryWriter:
    """Stands for a FileWriter, and remembers what it was given.

    >>> FakeSummaryWriter.install()
    >>> tf.summary.FileWriterCache.get("logs").assert_summaries(test_case, expected_summaries={1: {"loss": 0.5}})
    >>> FakeSummaryWriter.uninstall()
    """

    _replaced: ClassVar[type | None] = None

    @classmethod
    def install(cls) -> None:
        """Have `FileWriterCache` give out such writers."""
        if cls._replaced is not None:
            raise ValueError("FakeSummaryWriter is installed already")
        cls._replaced, writer.FileWriter = writer.FileWriter, cls
        FileWriterCache.clear()

    @classmethod
    def uninstall(cls) -> None:
        """Have `FileWriterCache` give out real writers again."""
        if cls._replaced is None:
            raise ValueError("FakeSummaryWriter is not installed")
        writer.FileWriter, cls._replaced = cls._replaced, None
        FileWriterCache.clear()

    def __init__(self, logdir, graph=None):
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[int, list[Summary]] = {}
        self._added_graphs, self._added_meta_graphs, self._added_session_logs = [], [], []
        self._added_run_metadata: dict[str, object] = {}

    @property
    def summaries(self) -> dict[int, list[Summary]]:
        """{step: the summaries of it}."""
        return self._summaries

    def assert_summaries(
        self,
        test_case,
        expected_logdir=None,
        expected_graph=None,
        expected_summaries=None,
        expected_added_graphs=None,
        expected_added_meta_graphs=None,
        expected_session_logs=None,
    ):
        """Fail a test case unless the writer was given what is expected; None leaves that open."""
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, values in (expected_summaries or {}).items():
            test_case.assertTrue(step in self._summaries, f"There is no summary of step {step}: {self._summaries}")
            found = {value.tag: value.simple_value for summary in self._summaries[step] for value in summary.value}
            test_case.assertEqual(values, found)
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            for expected, found in zip(expected_added_meta_graphs, self._added_meta_graphs, strict=True):
                test_case.assertEqual(_without_order(expected), _without_order(found))
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ, current_global_step):
        """Remember a summary, given as a proto or its bytes, of a step."""
        summary = Summary.FromString(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(summary)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Remember a graph."""
        if global_step is not None and global_step < 0:
            raise ValueError(f"global_step must be 0 at least, not {global_step}")
        if graph_def is not None:
            raise ValueError("graph_def is not for graphs of this version: give the graph")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Remember a meta graph."""
        if global_step is not None and global_step < 0:
            raise ValueError(f"global_step must be 0 at least, not {global_step}")
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log, global_step=None):
        """Remember a session log."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Remember the metadata of a run."""
        if global_step is not None and global_step < 0:
            raise ValueError(f"global_step must be 0 at least, not {global_step}")
        self._added_run_metadata[tag] = run_metadata

    def flush(self):
        """There is nothing to write."""

    def reopen(self):
        """It is never closed."""

    def close(self):
        """There is nothing to close."""


def _without_order(meta_graph_def):
    """A meta graph as something to compare: nodes by name, without the graph's versions."""
    nodes = {node.name: node for node in meta_graph_def.graph_def.node}
    rest = type(meta_graph_def)()
    rest.CopyFrom(meta_graph_def)
    rest.graph_def.CopyFrom(GraphDef())
    return nodes, rest.SerializeToString(deterministic=True)
