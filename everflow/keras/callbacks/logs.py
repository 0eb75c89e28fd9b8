"""Callbacks that tell how training goes: a bar on the screen, a CSV file, a server."""

from __future__ import annotations

import collections
import csv
import json
import os
import urllib.parse
import urllib.request

import numpy as np

from everflow.keras.callbacks.base import Callback
from everflow.keras.utils.progress import Progbar
from everflow.platform import logging


class ProgbarLogger(Callback):
    """A bar that grows with each batch, with the metrics behind it.

    Args:
        count_mode: `samples` or `steps`.
        stateful_metrics: The names of metrics that are not averaged.

    Example:
        >>> tf.keras.callbacks.ProgbarLogger("steps").use_steps
        True
    """

    def __init__(self, count_mode="samples", stateful_metrics=None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or [])
        self.progbar = None
        self.verbose = self.seen = 0
        self.target, self.log_values = None, []

    def _begin(self, verbose, target=None):
        self.seen = 0
        self.target = (
            target if target is not None else self.params["steps"] if self.use_steps else self.params["samples"]
        )
        shown = {"stateful_metrics": self.stateful_metrics, "unit_name": "step" if self.use_steps else "sample"}
        self.progbar = Progbar(target=self.target, verbose=verbose, **shown)

    def on_train_begin(self, logs=None):
        self.verbose = self.params["verbose"]
        self.epochs = self.params["epochs"]
        self.is_training = True

    def on_epoch_begin(self, epoch, logs=None):
        self.log_values = []
        if self.verbose:
            if self.epochs > 1:
                print(f"Epoch {epoch + 1}/{self.epochs}")
            self._begin(self.verbose)

    def on_batch_end(self, batch, logs=None):
        self._advance(logs, [name for name in self.params["metrics"] if not name.startswith("val_")])

    def _advance(self, logs, names):
        logs = logs or {}
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        self.log_values = [(name, logs[name]) for name in names if name in logs]
        # The last update comes with the end of the epoch, when validation is done too.
        if self.progbar is not None and self.progbar.verbose and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, self.log_values)

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        values = [(name, logs[name]) for name in self.params["metrics"] if name in logs]
        if self.target is not None:
            # The last batch was not shown; with it and the epoch's own means the means stay as they are.
            values = self.log_values + values
        if self.verbose and self.progbar is not None:
            if self.target is None:
                self.target = self.progbar.target = self.seen
            self.progbar.update(self.seen, values)

    def on_test_begin(self, logs=None):
        if not getattr(self, "is_training", False):
            self._begin(self.params["verbose"])

    def on_test_batch_end(self, batch, logs=None):
        if not getattr(self, "is_training", False):
            self._advance(logs, self.params["metrics"])

    def on_test_end(self, logs=None):
        if not getattr(self, "is_training", False):
            self._finish()

    def on_predict_begin(self, logs=None):
        self._begin(self.params["verbose"])

    def on_predict_batch_end(self, batch, logs=None):
        self._advance(logs, [])

    def on_predict_end(self, logs=None):
        self._finish()

    def _finish(self):
        if self.progbar is not None and self.progbar.verbose:
            if self.target is None:
                self.progbar.target = self.seen
            self.progbar.update(self.seen, self.log_values)


class CSVLogger(Callback):
    """A line of metrics for each epoch in a CSV file.

    Args:
        filename: The file.
        separator: What separates columns.
        append: Whether a file that is there goes on.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("sgd", "mse")
        >>> _ = model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0, callbacks=[tf.keras.callbacks.CSVLogger("log.csv")])
        >>> open("log.csv").readline().strip()
        'epoch,loss'
    """

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.sep, self.filename, self.append = separator, os.fspath(filename), append
        self.writer = self.keys = None
        self.append_header = True

    def on_train_begin(self, logs=None):
        mode = "w"
        if self.append:
            if os.path.exists(self.filename):
                with open(self.filename) as f:
                    self.append_header = not bool(len(f.readline()))
            mode = "a"
        self.csv_file = open(self.filename, mode, newline="")

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:
            # Metrics of validation may be missing in the last epoch.
            logs = {key: logs.get(key, "NA") for key in self.keys}
        if not self.writer:
            dialect = type("Dialect", (csv.excel,), {"delimiter": self.sep, "lineterminator": "\n"})
            self.writer = csv.DictWriter(self.csv_file, fieldnames=["epoch", *self.keys], dialect=dialect)
            if self.append_header:
                self.writer.writeheader()
        row = collections.OrderedDict({"epoch": epoch})
        row.update((key, _as_text(logs[key])) for key in self.keys)
        self.writer.writerow(row)
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        self.csv_file.close()
        self.writer = None


def _as_text(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0:
        return '"[{}]"'.format(", ".join(map(str, value)))
    return value


class RemoteMonitor(Callback):
    """Sends the metrics of each epoch to a server as JSON.

    Args:
        root: The server.
        path: The path on it.
        field: The form's field, where it isn't sent as JSON.
        headers: HTTP headers.
        send_as_json: Whether the body is JSON, or a form with JSON in a field.

    Example:
        >>> tf.keras.callbacks.RemoteMonitor("http://localhost:9000").path
        '/publish/epoch/end/'
    """

    def __init__(
        self, root="http://localhost:9000", path="/publish/epoch/end/", field="data", headers=None, send_as_json=False
    ):
        super().__init__()
        self.root, self.path, self.field, self.headers, self.send_as_json = root, path, field, headers, send_as_json

    def on_epoch_end(self, epoch, logs=None):
        send = {"epoch": epoch}
        for key, value in (logs or {}).items():
            send[key] = value.item() if isinstance(value, (np.ndarray, np.generic)) else value
        try:
            self._post(send)
        except OSError:  # as those of `requests` are
            logging.warning("RemoteMonitor got no answer from %s; training goes on without it.", self.root)

    def _post(self, send):
        """Send a dict, by way of `requests` where a program has that: it may have settings of its own there."""
        body = {"json": send} if self.send_as_json else {"data": {self.field: json.dumps(send)}}
        try:
            import requests
        except ImportError:
            headers = dict(self.headers or {})
            if self.send_as_json:
                headers.setdefault("Content-Type", "application/json")
            data = json.dumps(send) if self.send_as_json else urllib.parse.urlencode(body["data"])
            asked = urllib.request.Request(self.root + self.path, data=data.encode(), headers=headers)
            urllib.request.urlopen(asked).close()
        else:
            requests.post(self.root + self.path, headers=self.headers, **body)
