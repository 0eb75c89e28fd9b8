"""What record and event files hold, told to a person, also where they are cut off."""

from __future__ import annotations

import collections
import os
import time

from google.protobuf.message import DecodeError

from everflow.protos.event_pb2 import Event
from everflow.protos.example_pb2 import Example
from everflow.tools.event_logs import event_files, number, readable_records
from everflow.tools.parts import in_bytes, many, table


def records(path):
    """TFRecords: events as what they summarize, Examples as their features, others by size."""
    found, broken = readable_records(path)
    if broken and not found:
        raise ValueError(f"{path} is no checkpoint, graph, SavedModel, event file or TFRecord file ({broken})")
    ends = [f"it ends there: {broken}"] if broken else []
    events = [_event(r) for r in found]
    if found and all(e is not None for e in events):
        return _events(events, f"Event file {path}") + ends
    return _examples(found, path) + ends


def logs(path):
    """The event files of a folder and of those below it, one run each."""
    parts = []
    for run, files in event_files(path).items():
        events, ends = [], []
        for file in files:
            found, broken = readable_records(file)
            events += [event for event in map(_event, found) if event is not None]
            ends += [f"{file} ends there: {broken}"] if broken else []
        where = f"{many(len(files), 'event file')} in {os.path.normpath(os.path.join(path, run))}"
        parts += (_events(events, where) if events else [f"{where}: no events yet"]) + ends
    return parts


def _event(record):
    try:
        event = Event.FromString(record)
    except DecodeError:
        return None
    return event if event.wall_time > 1e8 and event.WhichOneof("what") else None


def _events(events, name):
    tags: dict[tuple, list] = {}
    for event in events:
        if event.WhichOneof("what") == "summary":
            for value in event.summary.value:
                tags.setdefault((value.tag, value.WhichOneof("value")), []).append((event.step, value))
    rows = []
    for (tag, kind), values in sorted(tags.items()):
        shown = number(values[-1][1])
        last = "" if shown is None else float(f"{shown:.6g}")
        rows.append((tag, kind, len(values), values[0][0], values[-1][0], last))
    others = collections.Counter(e.WhichOneof("what") for e in events)
    del others["summary"]
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(events[0].wall_time))
    head = f"{name}: {many(len(events), 'event')} over {events[-1].wall_time - events[0].wall_time:.1f} s from {began}"
    parts = [head]
    if rows:
        parts.append(table(rows, ("tag", "kind", "events", "first step", "last step", "last value")))
    if others:
        parts.append(table(sorted(others.items()), ("other events", "count")))
    return parts


def _examples(found, path):
    sizes = [len(r) for r in found]
    head = f"TFRecord file {path}: {many(len(found), 'record')}, {in_bytes(sum(sizes))}"
    if not found:
        return [head]
    features: dict[str, list] = {}
    for record in found[:1000]:
        try:
            example = Example.FromString(record)
        except DecodeError:
            features = {}
            break
        for name, feature in example.features.feature.items():
            kind = feature.WhichOneof("kind")
            features.setdefault(name, []).append((kind, len(getattr(feature, kind).value) if kind else 0))
    if not features:
        return [
            head,
            f"they are no tf.train.Examples; the smallest has {min(sizes):,} bytes, the largest {max(sizes):,}",
        ]
    rows = []
    for name, seen in sorted(features.items()):
        lengths = [n for _, n in seen]
        kinds = "/".join(sorted({(kind or "empty").removesuffix("_list") for kind, _ in seen}))
        length = str(lengths[0]) if min(lengths) == max(lengths) else f"{min(lengths)} to {max(lengths)}"
        rows.append((name, kinds, length, len(seen)))
    return [head, table(rows, ("feature", "kind", "values", "in examples"))]
