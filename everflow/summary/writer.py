"""`FileWriter`: events to a file, from a thread of its own, so that training waits for no disk."""

from __future__ import annotations

import os
import queue
import socket
import threading
import time

from everflow.formats import records
from everflow.framework.graph import Graph
from everflow.platform import file_io, logging
from everflow.platform.gfile import GFile
from everflow.protos.event_pb2 import Event, TaggedRunMetadata
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.summary_pb2 import Summary

_VERSION = "brain.Event:2"
_FLUSH, _CLOSE = object(), object()


class EventFileWriter:
    """Writes Event protos to a new event file of a folder."""

    def __init__(self, logdir, max_queue=10, flush_secs=120, filename_suffix=None):
        self._logdir = os.fspath(logdir)
        self._flush_secs = flush_secs
        self._suffix = filename_suffix or ""
        self._queue = queue.Queue(max_queue)
        self._closed = True
        self._last_second = 0
        if not file_io.is_directory(self._logdir):
            file_io.recursive_create_dir(self._logdir)
        self.reopen()

    def get_logdir(self):
        return self._logdir

    def reopen(self):
        """Go on after `close`, in a new file."""
        if not self._closed:
            return
        self._closed = False
        # The name holds only the second: a file of the same name is added to.
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}{self._suffix}"
        self._path = os.path.join(self._logdir, name)
        self._file = GFile(self._path, "ab")
        self._write(Event(wall_time=time.time(), file_version=_VERSION))
        self._file.flush()
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"events to {self._logdir}")
        self._thread.start()

    def add_event(self, event):
        """Queue an event; dropped after `close`, as TensorFlow does."""
        if not self._closed:
            self._queue.put(event)

    def flush(self):
        """Wait until all events so far are in the file."""
        if self._closed:
            return
        done = threading.Event()
        self._queue.put((_FLUSH, done))
        done.wait()

    def close(self):
        """Write what is queued and close the file."""
        if self._closed:
            return
        self._closed = True
        done = threading.Event()
        self._queue.put((_CLOSE, done))
        done.wait()
        self._thread.join()

    def _write(self, event):
        self._file.write(records.encode(event.SerializeToString()))

    def _run(self):
        next_flush = time.time() + self._flush_secs
        while True:
            item = self._queue.get()
            if isinstance(item, tuple):
                kind, done = item
                self._file.flush()
                if kind is _CLOSE:
                    self._file.close()
                    done.set()
                    return
                done.set()
                continue
            try:
                self._write(item)
                if time.time() >= next_flush:
                    self._file.flush()
                    next_flush = time.time() + self._flush_secs
            except OSError as e:
                # The thread must go on, or whoever adds events would wait for ever.
                logging.error("An event could not be written to %s: %s", self._path, e)


class FileWriter:
    """Writes summaries, graphs, session logs and run metadata to an event file that TensorBoard reads.

    >>> with tf.summary.FileWriter("logs", sess.graph) as writer:
    ...     writer.add_summary(sess.run(merged), global_step=step)
    """

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None):
        self.event_writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        self._run_tags: set[str] = set()
        self._seen_tags: set[str] = set()
        self._closed = False
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            if isinstance(graph, Graph):
                self._add_meta_graph_of(graph, graph_def)

    def _add_meta_graph_of(self, graph, graph_def):
        from everflow.train.meta_graph import create_meta_graph_def

        self.add_meta_graph(create_meta_graph_def(graph_def=graph_def or graph.as_graph_def(add_shapes=True), graph=graph))

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
            logging.warning(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is explicitly reopened."
            )
        self.event_writer.add_event(event)

    def _add(self, event, step):
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
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
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, Graph) or isinstance(graph_def, Graph):
            graph = graph if isinstance(graph, Graph) else graph_def
            held = graph.as_graph_def(add_shapes=True)
        elif isinstance(graph, GraphDef) or isinstance(graph_def, GraphDef):
            held = graph if isinstance(graph, GraphDef) else graph_def
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(Event(graph_def=held.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Add a MetaGraphDef."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Add what a traced run measured, under a tag that was not used yet."""
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        self._add(Event(tagged_run_metadata=TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())), global_step)

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
    """FileWriters by folder, one for each."""

    _cache: dict[str, FileWriter] = {}
    _lock = threading.RLock()

    @staticmethod
    def get(logdir):
        """The FileWriter of a folder, made the first time."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                from everflow.framework.scopes import get_default_graph

                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear():
        """Close and forget all."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}
