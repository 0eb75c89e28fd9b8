"""From text to networks: a spec is a list of assignments in Python, of which the one to `net` is the network."""

from __future__ import annotations

import sys
from typing import Any

from everflow.contrib.specs import params_ops, specs_ops
from everflow.contrib.specs.specs_lib import check_keywords


def _evaluated(text: str, words: dict[str, Any], environment: dict[str, Any] | None) -> dict[str, Any]:
    check_keywords(text)
    scope = {**words, **(environment or {})}
    exec(text, scope)
    return {
        name: value for name, value in scope.items() if name != "__builtins__" and words.get(name, scope) is not value
    }


def _words(module: Any) -> dict[str, Any]:
    return {name: getattr(module, name) for name in module.__all__}


def eval_params(params: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """The values that a spec of parameters gives names, with those of `environment`."""
    return _evaluated(params, _words(params_ops), environment)


def eval_spec(spec: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """The functions that a spec gives names, with what is in `environment`."""
    return _evaluated(spec, _words(specs_ops), environment)


def create_net_fun(spec: str, environment: dict[str, Any] | None = None) -> Any:
    """The function that a spec calls `net`, from an input to an output."""
    made = eval_spec(spec, environment)
    if "net" not in made:
        raise ValueError(f"A spec must assign to net: {spec}")
    return made["net"].funcall


def create_net(spec: str, inputs: Any, environment: dict[str, Any] | None = None) -> Any:
    """The output of a network for an input.

    >>> logits = tf.contrib.specs.create_net("net = Fr(32) | Fl(10)", images)
    """
    return create_net_fun(spec, environment)(inputs)


class LocalImport:
    """A context in which the caller has further global names: those of a module, or of a dict."""

    def __init__(self, names: Any) -> None:
        self.names = names if isinstance(names, dict) else {name: getattr(names, name) for name in dir(names)}

    def __enter__(self) -> None:
        self._caller = sys._getframe(1).f_globals
        self._before = {name: self._caller[name] for name in self.names if name in self._caller}
        self._caller.update({name: value for name, value in self.names.items() if not name.startswith("__")})

    def __exit__(self, some_type: Any, value: Any, traceback: Any) -> None:
        for name in self.names:
            if name in self._before:
                self._caller[name] = self._before[name]
            elif not name.startswith("__"):
                self._caller.pop(name, None)


ops = LocalImport(specs_ops)
