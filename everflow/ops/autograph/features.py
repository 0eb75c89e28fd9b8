"""Parts of the conversion that a caller may ask for."""

from __future__ import annotations

import enum


class Feature(enum.Enum):
    """Parts of the conversion that a caller may ask for.

    Example:
        >>> tf.autograph.experimental.Feature.LISTS.name
        'LISTS'
    """

    ALL = "ALL"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def asked_for(features) -> frozenset[Feature]:
    """The features of an argument: None, one, or several of them."""
    found = frozenset([features] if isinstance(features, Feature) else features or ())
    return frozenset(Feature) if Feature.ALL in found else found
