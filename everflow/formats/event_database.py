"""Summaries in an SQLite database: the tables that `tf.contrib.summary.create_db_writer` fills, and the writer that
does it.

A user has experiments, an experiment runs, a run tags (and one graph), a tag tensors by step. Strings of a tensor lie
in a table of their own.
"""

from __future__ import annotations

import random
import re
import sqlite3
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.framework.tensor_values import make_ndarray
from everflow.protos.graph_pb2 import GraphDef

if TYPE_CHECKING:
    from everflow.protos import event_pb2, summary_pb2

_COLUMNS = {
    "Ids": "id INTEGER PRIMARY KEY",
    "Descriptions": "id INTEGER PRIMARY KEY, description TEXT",
    "Tensors": "rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER, computed_time REAL, shape TEXT, data BLOB",
    "TensorStrings": "rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, idx INTEGER NOT NULL, data BLOB",
    "Tags": "rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, inserted_time DOUBLE, tag_name TEXT, display_name TEXT, "
    "plugin_name TEXT, plugin_data BLOB",
    "Runs": "rowid INTEGER PRIMARY KEY, experiment_id INTEGER, run_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, "
    "finished_time REAL, run_name TEXT",
    "Experiments": "rowid INTEGER PRIMARY KEY, user_id INTEGER, experiment_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, "
    "is_watching INTEGER, experiment_name TEXT",
    "Users": "rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, inserted_time REAL, user_name TEXT, email TEXT",
    "Graphs": "rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, inserted_time REAL, graph_def BLOB",
    "Nodes": "rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, node_name TEXT, op TEXT, device TEXT, node_def BLOB",
    "NodeInputs": "rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, idx INTEGER NOT NULL, "
    "input_node_id INTEGER NOT NULL, input_node_idx INTEGER, is_control INTEGER",
}
_UNIQUE = {
    "TensorSeriesStepIndex": "Tensors (series, step) WHERE series IS NOT NULL AND step IS NOT NULL",
    "TensorStringIndex": "TensorStrings (tensor_rowid, idx)",
    "TagIdIndex": "Tags (tag_id)",
    "TagRunNameIndex": "Tags (run_id, tag_name) WHERE run_id IS NOT NULL AND tag_name IS NOT NULL",
    "RunIdIndex": "Runs (run_id)",
    "RunNameIndex": "Runs (experiment_id, run_name) WHERE run_name IS NOT NULL",
    "ExperimentIdIndex": "Experiments (experiment_id)",
    "ExperimentNameIndex": "Experiments (user_id, experiment_name) WHERE experiment_name IS NOT NULL",
    "UserIdIndex": "Users (user_id)",
    "UserNameIndex": "Users (user_name) WHERE user_name IS NOT NULL",
    "UserEmailIndex": "Users (email) WHERE email IS NOT NULL",
    "GraphIdIndex": "Graphs (graph_id)",
    "GraphRunIndex": "Graphs (run_id) WHERE run_id IS NOT NULL",
    "NodeIdIndex": "Nodes (graph_id, node_id)",
    "NodeNameIndex": "Nodes (graph_id, node_name) WHERE node_name IS NOT NULL",
    "NodeInputsIndex": "NodeInputs (graph_id, node_id, idx)",
}
_MOST_IDS = 1 << 23
_INPUT = re.compile(r"(?P<control>\^?)(?P<name>[^:]+)(:(?P<output>\d+))?$")


class EventDatabaseWriter:
    """Writes the summaries and graphs of one run. Used as EventFileWriter is."""

    def __init__(self, path: str, experiment_name: str, run_name: str, user_name: str) -> None:
        self._lock = renewed(threading.Lock())
        self._names = {"experiment": experiment_name, "run": run_name, "user": user_name}
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, uri=path.startswith("file:"))
            for table, columns in _COLUMNS.items():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
            for index, columns in _UNIQUE.items():
                self._db.execute(f"CREATE UNIQUE INDEX IF NOT EXISTS {index} ON {columns}")
            self._db.commit()
        except sqlite3.Error as e:
            raise InvalidArgumentError(None, None, f"The database {path} can't be opened: {e}") from e
        self._tags: dict[str, int] = {}
        self._begun = False
        self._experiment_id: int | None = None
        self._run_id: int | None = None
        self._started = float("inf")

    def add_event(self, event: event_pb2.Event) -> None:
        """Insert what an Event holds of summaries and graphs; the rest has no table."""
        with self._lock:
            now = time.time()
            if event.WhichOneof("what") == "graph_def":
                self._begin(now, event.wall_time)
                self._insert_graph(GraphDef.FromString(event.graph_def), now)
            for value in event.summary.value:
                self._begin(now, event.wall_time)
                self._insert_value(value, event.step, now, event.wall_time)

    def flush(self) -> None:
        with self._lock:
            self._db.commit()

    def close(self) -> None:
        with self._lock:
            if self._run_id is not None:
                self._db.execute("UPDATE Runs SET finished_time = ? WHERE run_id = ?", (time.time(), self._run_id))
            self._db.commit()
            self._db.close()

    # --- who writes

    def _new_id(self) -> int:
        while True:
            found = random.SystemRandom().randrange(1, _MOST_IDS)
            if self._db.execute("INSERT OR IGNORE INTO Ids (id) VALUES (?)", (found,)).rowcount:
                return found

    def _insert(self, table: str, **row: Any) -> int | None:
        marks = ", ".join("?" * len(row))
        return self._db.execute(
            f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        ).lastrowid

    def _begin(self, now: float, computed: float) -> None:
        """Insert user, experiment and run when the first thing of them is written; they start with the earliest."""
        if not self._begun:
            self._begun = True
            user = self._found_or_new("Users", "user_id", {"user_name": self._names["user"]}, now)
            if self._names["experiment"]:
                key = {"user_id": user, "experiment_name": self._names["experiment"]}
                self._experiment_id = self._found_or_new(
                    "Experiments", "experiment_id", key, now, started_time=computed, is_watching=0
                )
            if self._names["run"]:
                self._run_id = self._new_id()
                self._insert(
                    "Runs", experiment_id=self._experiment_id, run_id=self._run_id, run_name=self._names["run"], inserted_time=now,
                    started_time=computed,
                )  # fmt: skip
        if computed < self._started:
            self._started = computed
            self._db.execute("UPDATE Runs SET started_time = ? WHERE run_id = ?", (computed, self._run_id))
            earlier = (computed, self._experiment_id, computed)
            self._db.execute(
                "UPDATE Experiments SET started_time = ? WHERE experiment_id = ? AND started_time > ?", earlier
            )

    def _found_or_new(self, table: str, column: str, key: dict[str, Any], now: float, **more: Any) -> int | None:
        """The id of the row with a key, which is inserted where there is none; None where its name is empty."""
        if not all(key.values()):
            return None
        found = self._db.execute(
            f"SELECT {column} FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in key)}", tuple(key.values())
        )
        row = found.fetchone()
        if row is not None:
            return row[0]
        made = self._new_id()
        self._insert(table, **{column: made}, **key, inserted_time=now, **more)
        return made

    # --- what is written

    def _insert_value(self, value: summary_pb2.Summary.Value, step: int, now: float, computed: float) -> None:
        array, dtype, plugin = _tensor_of(value)
        tag = self._tags.get(value.tag)
        if tag is None:
            tag = self._tags[value.tag] = self._new_id()
            self._insert(
                "Tags", run_id=self._run_id, tag_id=tag, inserted_time=now, tag_name=value.tag, display_name=value.metadata.display_name,
                plugin_name=plugin, plugin_data=value.metadata.plugin_data.content,
            )  # fmt: skip
            self._insert("Descriptions", id=tag, description=value.metadata.summary_description)
        strings = dtype is dtypes.string and array.ndim > 0
        data = None if strings else array.item() if dtype is dtypes.string else array.tobytes()
        shape = ",".join(map(str, array.shape))
        old = self._db.execute("SELECT rowid FROM Tensors WHERE series = ? AND step = ?", (tag, step)).fetchone()
        if old is not None:
            self._db.execute("DELETE FROM TensorStrings WHERE tensor_rowid = ?", old)
        row = self._insert(
            "Tensors", series=tag, step=step, dtype=dtype.as_datatype_enum, computed_time=computed, shape=shape, data=data
        )  # fmt: skip
        for i, text in enumerate(array.ravel().tolist() if strings else ()):
            self._insert("TensorStrings", tensor_rowid=row, idx=i, data=text)

    def _insert_graph(self, graph_def: GraphDef, now: float) -> None:
        graph = self._new_id()
        numbers = {node.name: i for i, node in enumerate(graph_def.node)}
        for i, node in enumerate(graph_def.node):
            for place, text in enumerate(node.input):
                match = _INPUT.match(text)
                source = numbers.get(match["name"]) if match else None
                if match is None or source is None:
                    raise InvalidArgumentError(
                        None, None, f"Node {node.name!r} has an input {text!r} that is not in the graph"
                    )
                self._insert(
                    "NodeInputs", graph_id=graph, node_id=i, idx=place, input_node_id=source, input_node_idx=int(match["output"] or 0),
                    is_control=int(bool(match["control"])),
                )  # fmt: skip
            name, op, device = node.name, node.op, node.device
            for field in ("name", "op", "device", "input"):
                node.ClearField(field)
            self._insert(
                "Nodes",
                graph_id=graph,
                node_id=i,
                node_name=name,
                op=op,
                device=device,
                node_def=node.SerializeToString(),
            )
        graph_def.ClearField("node")
        self._insert(
            "Graphs", run_id=self._run_id, graph_id=graph, inserted_time=now, graph_def=graph_def.SerializeToString()
        )


def _tensor_of(value: summary_pb2.Summary.Value) -> tuple[Any, dtypes.DType, str]:
    """(array, its type, the plug-in that shows it) of a Summary.Value, whichever kind it is of."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return np.float32(value.simple_value), dtypes.float32, "scalars"
    if kind == "histo":
        # The first bucket begins at the least positive double, as TensorFlow has it.
        lefts = [sys.float_info.min, *value.histo.bucket_limit[:-1]]
        return (
            np.array([lefts, value.histo.bucket_limit, value.histo.bucket], np.float64).T.copy(),
            dtypes.float64,
            "histograms",
        )
    if kind == "image":
        texts = [str(value.image.width).encode(), str(value.image.height).encode(), value.image.encoded_image_string]
        return np.array(texts, object), dtypes.string, "images"
    if kind == "audio":
        return np.array([[value.audio.encoded_audio_string, b""]], object), dtypes.string, "audio"
    return make_ndarray(value.tensor), dtypes.as_dtype(value.tensor.dtype), value.metadata.plugin_data.plugin_name
