"""Device names: `DeviceSpec`, parsing, canonical form, and merging of nested requests."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Self

    from everflow.framework.operation import Operation

# Job, replica, task, kind of device and its index; None where a name leaves it open.
_Parts: TypeAlias = tuple[str | None, int | None, int | None, str | None, int | None]


def _normal(parts: Sequence[Any]) -> _Parts:
    """Parts of a name as they are kept: numbers for numbers, common kinds of devices in capitals."""
    job, replica, task, kind, index = parts
    kind = None if kind is None else str(kind)
    numbers = [None if number is None else int(number) for number in (replica, task, index)]
    kind = kind.upper() if kind in ("cpu", "gpu") else kind
    return None if job is None else str(job), numbers[0], numbers[1], kind, numbers[2]


class DeviceSpecV2:
    """A device, wholly or partly named; TensorFlow 2's, which doesn't change."""

    __slots__ = ("_named",)

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._named = _normal((job, replica, task, device_type, device_index))

    @property
    def job(self) -> str | None:
        return self._named[0]

    @property
    def replica(self) -> int | None:
        return self._named[1]

    @property
    def task(self) -> int | None:
        return self._named[2]

    @property
    def device_type(self) -> str | None:
        return self._named[3]

    @property
    def device_index(self) -> int | None:
        return self._named[4]

    def _parts(self) -> _Parts:
        return self._named

    def parse_from_string(self, spec: str) -> Self:
        """A DeviceSpec from a name like "/job:ps/task:1/gpu:0"."""
        return self.from_string(spec)

    @classmethod
    def from_string(cls, spec: str) -> Self:
        """A DeviceSpec from a name like "/job:ps/task:1/gpu:0"."""
        return cls(*_parse(spec))

    def to_string(self) -> str:
        """The canonical name."""
        return _join(*self._parts())

    def make_merged_spec(self, dev: DeviceSpecV2) -> Self:
        """A new DeviceSpec: what `dev` names, else what this one does."""
        return type(self)(*_merge(self._parts(), dev._parts()))

    def replace(self, **kwargs: Any) -> Self:
        """A copy with some parts changed."""
        parts = dict(zip(("job", "replica", "task", "device_type", "device_index"), self._parts()))
        return type(self)(**{**parts, **kwargs})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self._parts())


class DeviceSpec(DeviceSpecV2):
    """A device, wholly or partly named.

    Args:
        job: The name of the job, such as `worker`.
        replica: The number of the replica.
        task: The number of the task in the job.
        device_type: `CPU` or `GPU`.
        device_index: The number of the device.

    Example:
        >>> tf.DeviceSpec(job="ps", device_type="CPU", device_index=0).to_string()
        '/job:ps/device:CPU:0'
    """

    __slots__ = ()

    def _set(self, parts: Sequence[Any]) -> None:
        self._named = _normal(parts)

    @property
    def job(self) -> str | None:
        return self._named[0]

    @job.setter
    def job(self, job: str | None) -> None:
        self._set((job, *self._named[1:]))

    @property
    def replica(self) -> int | None:
        return self._named[1]

    @replica.setter
    def replica(self, replica: int | None) -> None:
        self._set((*self._named[:1], replica, *self._named[2:]))

    @property
    def task(self) -> int | None:
        return self._named[2]

    @task.setter
    def task(self, task: int | None) -> None:
        self._set((*self._named[:2], task, *self._named[3:]))

    @property
    def device_type(self) -> str | None:
        return self._named[3]

    @device_type.setter
    def device_type(self, device_type: str | None) -> None:
        self._set((*self._named[:3], device_type, *self._named[4:]))

    @property
    def device_index(self) -> int | None:
        return self._named[4]

    @device_index.setter
    def device_index(self, device_index: int | None) -> None:
        self._set((*self._named[:4], device_index))

    def parse_from_string(self, spec: str) -> Self:
        """Fill this object from a name like "/job:ps/task:1/gpu:0"; returns itself."""
        self._set(_parse(spec))
        return self

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Take over what `dev` names; it wins over what is here."""
        self._set(_merge(self._parts(), dev._parts()))


def _merge(under: _Parts, over: _Parts) -> _Parts:
    merged: Any = tuple(o if o is not None else u for u, o in zip(under, over))
    return merged


@functools.lru_cache(maxsize=4096)
def _parse(spec: str) -> _Parts:
    job = replica = task = kind = index = None
    for part in spec.split("/"):
        words = part.split(":")
        head = words[0]
        if not part:
            continue
        if len(words) == 2 and head == "job":
            job = words[1]
        elif len(words) == 2 and head == "replica":
            replica = int(words[1])
        elif len(words) == 2 and head == "task":
            task = int(words[1])
        elif (len(words) in (1, 2) and head.upper() in ("CPU", "GPU")) or (len(words) == 3 and head == "device"):
            if kind is not None:
                raise ValueError(f"Cannot specify multiple device types: {spec}")
            words = words[1:] if len(words) == 3 else words
            kind = words[0].upper() if words[0].upper() in ("CPU", "GPU") else words[0]
            index = int(words[1]) if len(words) == 2 and words[1] != "*" else None
        else:
            raise ValueError(f"Unknown attribute: '{head}' in '{spec}'")
    return job, replica, task, kind, index


def _join(job: str | None, replica: int | None, task: int | None, kind: str | None, index: int | None) -> str:
    name = ""
    if job is not None:
        name += f"/job:{job}"
    if replica is not None:
        name += f"/replica:{replica}"
    if task is not None:
        name += f"/task:{task}"
    if kind is not None:
        name += f"/device:{kind}:{'*' if index is None else index}"
    return name


def canonical_name(device: str | DeviceSpecV2 | None) -> str:
    """The canonical form of a device name or DeviceSpec; "" for None."""
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpecV2) else _join(*_parse(device))


@functools.lru_cache(maxsize=4096)
def merged_name(outer: str, inner: str) -> str:
    """The name an op gets whose device is `inner` so far when an enclosing `tf.device(outer)` is applied: inner wins."""
    return _join(*_merge(_parse(outer), _parse(inner)))


def check_valid(spec: str) -> None:
    """Raise ValueError where a device name has none of the known parts."""
    _parse(spec)


class MergeDevice:
    """A device function that fills in from a device what an op's own leaves open."""

    def __init__(self, spec: str | DeviceSpecV2 | None) -> None:
        self._name = canonical_name(spec)

    _spec = property(lambda self: DeviceSpec.from_string(self._name))
    is_null_merge = property(lambda self: not self._name, doc="Whether it says nothing.")

    def __call__(self, op: Operation) -> str:
        return merged_name(self._name, op.device or "")

    shortcut_string_merge = __call__

    def __repr__(self) -> str:
        return f"{super().__repr__()} (spec: {self._name})"


def merge_device(spec: str | DeviceSpecV2 | None) -> MergeDevice:
    """A device function that fills in from `spec` what an op's own device leaves open."""
    return MergeDevice(spec)
