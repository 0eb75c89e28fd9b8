"""`read_only`: what users may look at and only the object itself sets, as one line of a class."""

from __future__ import annotations

import operator


def read_only(attribute: str, doc: str) -> property:
    """A property that shows an attribute."""
    return property(operator.attrgetter(attribute), doc=doc)
