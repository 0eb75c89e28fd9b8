"""`FileWriter`: summaries, graphs and logs as events of a file."""

from __future__ import annotations

import os
import threading
import time
import warnings

import numpy as np

from everflow.formats.event_files import EventFileWriter
from everflow.framework.forking import renewed
from everflow.framework.graph import Graph
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.ops.io.meta_graph import create_meta_graph_def
from everflow.platform import file_io
from everflow.protos.event_pb2 import Event, TaggedRunMetadata
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.summary_pb2 import Summary
from everflow.summary.plugin_asset import get_all_plugin_assets
from everflow.summary.session_writer import EventFileWriterV2


class FileWriter:
    """Writes summaries, graphs, session logs and run metadata to an event file that TensorBoard reads.

    Args:
        logdir: The folder of the event file.
        graph: A graph to write, too.
        max_queue: How many events wait in memory.
        flush_secs: After how many seconds they are written.
        graph_def: Deprecated: a GraphDef to write, too.
        filename_suffix: What the file's name ends with.
        session: Makes it write through operations of this session.

    Example:
        >>> loss = tf.summary.scalar("loss", 0.5)
        >>> with tf.summary.FileWriter("logs", sess.graph) as writer:
        ...     writer.add_summary(sess.run(loss), global_step=1)
        >>> len(tf.gfile.Glob("logs/events.*"))
        1
    """

    def __init__(
        self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None
    ):
        if executing_eagerly():
            raise RuntimeError(
                "FileWriter is not compatible with eager execution, as it writes of graphs: use tf.contrib.summary"
            )
        if session is None:
            self.event_writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        else:
            self.event_writer = EventFileWriterV2(session, logdir, max_queue, flush_secs, filename_suffix)
        self._run_tags: set[str] = set()
        self._seen_tags: set[str] = set()
        self._closed = False
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            self._add_meta_graph_of(graph or graph_def)

    def _add_meta_graph_of(self, graph):
        graph_def = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
        self.add_meta_graph(create_meta_graph_def(graph_def=graph_def))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def get_logdir(self):
        """The folder of the event file."""
        return self.event_writer.get_logdir()

    def add_event(self, event):
        """Add an Event."""
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter: nothing is written until `reopen()` is called.",
                stacklevel=2,
            )
        self.event_writer.add_event(event)

    def _add(self, event, step):
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step.item() if isinstance(step, np.ndarray) else step)
        self.add_event(event)

    def add_summary(self, summary, global_step=None):
        """Add a Summary, as a proto or serialized as summary ops give it."""
        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        for value in summary.value:
            if not value.metadata:
                continue
            # What a tag means is written once.
            if value.tag in self._seen_tags:
                value.ClearField("metadata")
            else:
                self._seen_tags.add(value.tag)
        self._add(Event(summary=summary), global_step)

    def add_session_log(self, session_log, global_step=None):
        """Add a SessionLog: that training started, stopped or saved."""
        self._add(Event(session_log=session_log), global_step)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Add a graph, to be shown with its scopes."""
        if graph is not None and graph_def is not None:
            raise ValueError("`graph` and `graph_def` were both given: pass `graph`")
        if isinstance(graph, Graph) or isinstance(graph_def, Graph):
            graph = graph if isinstance(graph, Graph) else graph_def
            held = graph.as_graph_def(add_shapes=True)
            self._write_plugin_assets(graph)
        elif isinstance(graph, GraphDef) or isinstance(graph_def, GraphDef):
            held = graph if isinstance(graph, GraphDef) else graph_def
        else:
            raise TypeError(
                f"`graph` must be a tf.Graph or a GraphDef, not {graph if graph is not None else graph_def!r}"
            )
        self._add(Event(graph_def=held.SerializeToString()), global_step)

    def _write_plugin_assets(self, graph):
        """Write the files that plugins of TensorBoard keep with a graph, each into a folder of its plugin."""
        for asset in get_all_plugin_assets(graph):
            folder = os.path.join(self.get_logdir(), "plugins", asset.plugin_name)
            file_io.recursive_create_dir(folder)
            for name, content in asset.assets().items():
                file_io.write_string_to_file(os.path.join(folder, name), content)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Add a MetaGraphDef."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(f"`meta_graph_def` must be a MetaGraphDef, not {type(meta_graph_def)}")
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Add what a traced run measured, under a tag that was not used yet."""
        if not isinstance(tag, str | bytes):
            raise TypeError(f"The tag of run metadata must be a string, not {tag!r}")
        if tag in self._run_tags:
            raise ValueError(f"The provided tag was already used: {tag!r}; each run's metadata needs one of its own")
        self._run_tags.add(tag)
        self._add(
            Event(tagged_run_metadata=TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())),
            global_step,
        )

    def flush(self):
        """Have all events so far in the file."""
        self.event_writer.flush()

    def close(self):
        """Write what is queued and close the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self):
        """Go on after `close`, in a new file."""
        self.event_writer.reopen()
        self._closed = False


class FileWriterCache:
    """FileWriters by folder, one for each.

    Example:
        >>> tf.summary.FileWriterCache.get("logs") is tf.summary.FileWriterCache.get("logs")
        True
        >>> tf.summary.FileWriterCache.clear()
    """

    _cache: dict[str, FileWriter] = {}
    _lock = renewed(threading.RLock())

    @staticmethod
    def get(logdir):
        """The FileWriter of a folder, made the first time."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear():
        """Close and forget all."""
        with FileWriterCache._lock:
            while FileWriterCache._cache:
                FileWriterCache._cache.popitem()[1].close()
