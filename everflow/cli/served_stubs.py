"""Stubs of `tensorflow` as everflow serves it, for editors and type checkers: its public namespaces are those of
everflow's own stubs; what a path into TensorFlow's tree holds is known only when it runs, so any name is taken there.
"""

from __future__ import annotations

import pathlib

import everflow
from everflow.legacy.paths import module_paths

_ANY_NAME = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"
# Namespaces that are modules of another place.
_ELSEWHERE = {"keras.estimator": "everflow.estimator.keras_models", "nn.rnn_cell": "everflow.rnn.rnn_cell"}


def served_stubs() -> dict[str, str]:
    """{file below the folder of `tensorflow`: what it holds}."""
    modules = {path: f"everflow.{path}".rstrip(".") for path in _namespaces()} | _ELSEWHERE
    old = {f"compat.v1.{path}": module for path, module in modules.items() if path}
    texts = {path: f"from {module} import *\n" for path, module in {**modules, **old}.items()}
    texts[""] = "from everflow import *\nfrom everflow import __version__ as __version__\n"
    for path in sorted(module_paths() | {"core", "flags"}):
        for depth in range(1, path.count(".") + 2):
            texts.setdefault(".".join(path.split(".")[:depth]), _ANY_NAME)
    texts["app.flags"] = texts["flags"] = "from everflow.flags import *\n"
    return {"py.typed": ""} | {
        f"{path.replace('.', '/')}/__init__.pyi".lstrip("/"): text for path, text in texts.items()
    }


def _namespaces() -> list[str]:
    """The namespaces that have stubs, as dotted names below `tf`."""
    root = pathlib.Path(everflow.__file__).parent
    found = [path.relative_to(root).with_suffix("").parts for path in root.rglob("*.pyi") if "protos" not in path.parts]
    return [".".join(part for part in parts if part != "__init__") for parts in found if parts[-1] != "_typing"]
