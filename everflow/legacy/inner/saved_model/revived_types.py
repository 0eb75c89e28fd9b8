"""tensorflow.python.saved_model.revived_types: classes that files of objects know by a word and a version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from everflow.protos.saved_object_graph_pb2 import SavedUserObject


class VersionedTypeRegistration:
    """One version of a class: how an object is made of a message, and which versions of files go with it."""

    def __init__(
        self,
        object_factory: Callable[[SavedUserObject], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Iterable[int] = (),
        setter: Callable[[Any, str, Any], None] = setattr,
    ) -> None:
        self.setter, self.identifier = setter, ""
        self.version = version
        self._factory = object_factory
        self._min_producer, self._min_consumer = min_producer_version, min_consumer_version
        self._bad_consumers = list(bad_consumers)

    def to_proto(self) -> SavedUserObject:
        """What a file holds of an object of this version."""
        proto = SavedUserObject(identifier=self.identifier)
        proto.version.producer, proto.version.min_consumer = self.version, self._min_consumer
        proto.version.bad_consumers.extend(self._bad_consumers)
        return proto

    def from_proto(self, proto: SavedUserObject) -> Any:
        """An object of a message."""
        return self._factory(proto)

    def should_load(self, proto: SavedUserObject) -> bool:
        """Whether a message is for this version."""
        versions = proto.version
        return (
            proto.identifier == self.identifier
            and versions.min_consumer <= self.version
            and versions.producer >= self._min_producer
            and self.version not in versions.bad_consumers
        )


class _Registered(NamedTuple):
    fits: Callable[[Any], bool]
    versions: list[VersionedTypeRegistration]  # the newest first


_types: dict[str, _Registered] = {}


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: Sequence[VersionedTypeRegistration]
) -> None:
    """Let objects that fit be saved by a word, and made again from it."""
    if identifier in _types:
        raise AssertionError(f"{identifier!r} is registered already")
    if not versions:
        raise AssertionError(f"{identifier!r} needs one version at least")
    if len({v.version for v in versions}) != len(versions):
        raise AssertionError(f"{identifier!r} has two registrations of one version")
    for version in versions:
        version.identifier = identifier
    _types[identifier] = _Registered(predicate, sorted(versions, key=lambda v: -v.version))


def serialize(obj: Any) -> SavedUserObject | None:
    """The message of an object of a registered class, or None."""
    return next((found.versions[0].to_proto() for found in _types.values() if found.fits(obj)), None)


def deserialize(proto: SavedUserObject) -> tuple[Any, Callable[[Any, str, Any], None]] | None:
    """(object of a message, function that sets its attributes), or None where no version is for it."""
    for version in _types[proto.identifier].versions if proto.identifier in _types else ():
        if version.should_load(proto):
            return version.from_proto(proto), version.setter
    return None


def registered_identifiers() -> Iterable[str]:
    """The words that stand for classes."""
    return _types.keys()
