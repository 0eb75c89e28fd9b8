"""Parts of the conversion that a caller may ask for."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Feature(enum.Enum):
    """Parts of the conversion that a caller may ask for.

    Example:
        >>> tf.autograph.experimental.Feature.LISTS.name
        'LISTS'
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every one of them."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """Every one but these, named one by one."""
        left_out = {cls.ALL, *([exclude] if isinstance(exclude, cls) else exclude)}
        return tuple(each for each in cls if each not in left_out)


def asked_for(features) -> frozenset[Feature]:
    """The features of an argument: None, one, or several of them."""
    found = frozenset([features] if isinstance(features, Feature) else features or ())
    return frozenset(Feature) if Feature.ALL in found else found
