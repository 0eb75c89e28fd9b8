"""What the children of a program under `everflow run` inherit by their environment: everflow as their tensorflow, and the
manner in which the program is taken. `children/sitecustomize.py` is what starts in them.
"""

from __future__ import annotations

import os

from everflow.legacy import tf0
from everflow.legacy.py2 import meaning, names

_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")
_MANNER = "EVERFLOW_RUN"


def leave() -> None:
    """From now on, Pythons that this process starts see tensorflow, by way of PYTHONPATH."""
    paths = os.environ.get("PYTHONPATH", "")
    if _CHILDREN not in paths.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_CHILDREN, paths]))


def note(manner: str) -> None:
    """Let children know of a manner: `tf0`, or `py2=` and the program's folder."""
    os.environ[_MANNER] = "\n".join(filter(None, [os.environ.get(_MANNER, ""), manner]))


def take_over() -> None:
    """In a child: take programs in the manner of the parent."""
    for manner in os.environ.get(_MANNER, "").splitlines():
        name, _, folder = manner.partition("=")
        if name == "tf0":
            tf0.install()
        elif name == "py2":
            names.install()
            meaning.install(folder)
