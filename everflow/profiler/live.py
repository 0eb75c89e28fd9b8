"""Profiles of a running process, eager or not: TensorBoard's profile page shows what ran when.

`Profiler(logdir)` takes one of a `with` block; `start`, `stop` and `save` are its parts.
"""

from __future__ import annotations

import os
import time

from everflow.platform import file_io
from everflow.protos.trace_events_pb2 import Trace
from everflow.runtime.profiling import RECORDER

# What the names of event files end in that only make TensorBoard look for profiles beside them.
_EVENT_FILE_SUFFIX = ".profile-empty"
_DEVICE = 0
_PICOSECONDS = 1000  # in a nanosecond


class ProfilerAlreadyRunningError(Exception):
    """A profile is being taken already."""


class ProfilerNotRunningError(Exception):
    """No profile is being taken."""


def start() -> None:
    """Begin a profile of what this process runs.

    Raises:
        ProfilerAlreadyRunningError: If one is being taken.
    """
    if not RECORDER.begin():
        raise ProfilerAlreadyRunningError("A profile is being taken already: stop() ends it.")


def stop() -> bytes:
    """End the profile.

    Returns:
        A serialized Trace, for `save`.

    Raises:
        ProfilerNotRunningError: If none is being taken.
    """
    found = RECORDER.end()
    if found is None:
        raise ProfilerNotRunningError("No profile is being taken: start() begins one.")
    began, events = found
    trace = Trace()
    device = trace.devices[_DEVICE]
    device.name, device.device_id = "/host:CPU", _DEVICE
    for event in sorted(events, key=lambda event: event.start):
        # Numbers of threads may be larger than the format's.
        line = event.thread % (1 << 31)
        if line not in device.resources:
            device.resources[line].name = "python" if not device.resources else f"thread {len(device.resources)}"
            device.resources[line].resource_id = line
        trace.trace_events.add(
            device_id=_DEVICE,
            resource_id=line,
            name=event.kind,
            timestamp_ps=max(event.start - began, 0) * _PICOSECONDS,
            duration_ps=(event.end - event.start) * _PICOSECONDS,
            args={"long name": f"{event.name}:{event.kind}"},
        )
    return trace.SerializeToString()


def maybe_create_event_file(logdir: str) -> None:
    """Write an event file that says nothing, unless one is there: TensorBoard looks for profiles beside event files."""
    if file_io.is_directory(logdir) and any(
        name.endswith(_EVENT_FILE_SUFFIX) for name in file_io.list_directory(logdir)
    ):
        return
    from everflow.formats.event_files import open_event_file  # loads google_crc32c

    file_io.recursive_create_dir(logdir)
    _, file = open_event_file(os.path.join(logdir, "events"), _EVENT_FILE_SUFFIX)
    file.close()


def save(logdir: str, result: bytes) -> None:
    """Write a profile where TensorBoard looks for it.

    Args:
        logdir: The folder that TensorBoard shows.
        result: What `stop` gave.
    """
    folder = os.path.join(logdir, "plugins", "profile", time.strftime("%Y-%m-%d_%H-%M-%S"))
    file_io.recursive_create_dir(folder)
    maybe_create_event_file(logdir)
    with file_io.FileIO(os.path.join(folder, "local.trace"), "wb") as file:
        file.write(result)


class Profiler:
    """A context whose operations are profiled.

    Args:
        logdir: The folder that TensorBoard shows.
    """

    def __init__(self, logdir: str) -> None:
        self._logdir = logdir

    def __enter__(self) -> None:
        start()

    def __exit__(self, *failure: object) -> None:
        save(self._logdir, stop())
