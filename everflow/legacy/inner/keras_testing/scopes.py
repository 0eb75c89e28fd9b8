"""What kind of model a test makes and how it is to run, as the decorators of tests set it for the current thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from everflow.framework.scopes import executing_eagerly

_settings = threading.local()


@contextlib.contextmanager
def _set(setting: str, value: Any) -> Iterator[None]:
    before = getattr(_settings, setting, None)
    setattr(_settings, setting, value)
    try:
        yield
    finally:
        setattr(_settings, setting, before)


def _get(setting: str, scope: str, decorator: str) -> Any:
    value = getattr(_settings, setting, None)
    if value is None:
        raise ValueError(f"This is only known within {scope}, or in a test with the decorator {decorator}.")
    return value


def model_type_scope(value: str) -> contextlib.AbstractContextManager[None]:
    """A context in which models are "functional", "sequential", "subclass" or "subclass_custom_build"."""
    return _set("model_type", value)


def get_model_type() -> str:
    """The kind of models that this test makes."""
    return _get("model_type", "model_type_scope", "run_with_all_model_types")


def run_eagerly_scope(value: bool) -> contextlib.AbstractContextManager[None]:
    """A context in which models run eagerly, or not, where execution is eager at all."""
    return _set("run_eagerly", value)


def should_run_eagerly() -> bool:
    """What this test is to give `compile` as `run_eagerly`."""
    return _get("run_eagerly", "run_eagerly_scope", "run_all_keras_modes") and executing_eagerly()


def experimental_run_tf_function_scope(value: bool) -> contextlib.AbstractContextManager[None]:
    """A context in which models train in a traced function, or not, where execution is eager at all."""
    return _set("run_tf_function", value)


def should_run_tf_function() -> bool:
    """What this test is to give `compile` as `experimental_run_tf_function`."""
    return _get("run_tf_function", "experimental_run_tf_function_scope", "run_all_keras_modes") and executing_eagerly()
