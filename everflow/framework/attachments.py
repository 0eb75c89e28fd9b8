"""Word of objects that join others: variables of a layer, slots of an optimizer, attributes of a module.

A checkpoint that is restored when executing eagerly waits for it, to fill variables that don't exist yet.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everflow.framework.hints import Listener

_waiting: weakref.WeakSet = weakref.WeakSet()


def wait(listener: Listener) -> None:
    """Have `listener.joined(owner)` called whenever something joins an object."""
    _waiting.add(listener)


def stop(listener: Listener) -> None:
    """Call it no more."""
    _waiting.discard(listener)


def joined(owner: object) -> None:
    """Something new hangs on `owner`."""
    if _waiting:
        for listener in list(_waiting):
            listener.joined(owner)
