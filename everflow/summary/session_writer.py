"""The writer behind `FileWriter(logdir, session=sess)`: events go through ops; writers of a folder share a file.

The ops of tf.contrib.summary write to that file, too.
"""

from __future__ import annotations

from everflow.framework.scopes import name_scope
from everflow.ops.array.constants import constant, placeholder_with_default
from everflow.summary.writing_ops import create_file_writer, import_event


class EventFileWriterV2:
    """Writes Event protos by running ops in a session."""

    def __init__(self, session, logdir, max_queue=10, flush_secs=120, filename_suffix=""):
        self._session = session
        self._logdir = logdir
        self._closed = False
        with session.graph.as_default(), name_scope("filewriter"):
            file = create_file_writer(
                logdir, max_queue=max_queue, flush_millis=flush_secs * 1000, filename_suffix=filename_suffix
            )
            with file.as_default():
                self._event = placeholder_with_default(constant("unused"), shape=[])
                self._add_event_op = import_event(self._event)
            self._init_op = file.init()
            self._flush_op = file.flush()
            self._close_op = file.close()
        session.run(self._init_op)

    def get_logdir(self):
        return self._logdir

    def reopen(self):
        """Go on after `close`."""
        if self._closed:
            self._closed = False
            self._session.run(self._init_op)

    def add_event(self, event):
        """Hand an event to the writer; dropped after `close`."""
        if not self._closed:
            self._session.run(self._add_event_op, feed_dict={self._event: event.SerializeToString()})

    def flush(self):
        """Have all events so far in the file."""
        self._session.run(self._flush_op)

    def close(self):
        """Flush and close the file."""
        if self._closed:
            return
        for op in (self._flush_op, self._close_op):
            self._session.run(op)
        self._closed = True
