"""tf.compat: text and bytes, and the number types that stand for one another."""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)

# The day TensorFlow 1.15's interface was settled; it decides which graphs may be made for older readers.
_FORWARD_COMPATIBILITY_HORIZON = datetime.date(2019, 8, 21)
_FORWARD_COMPATIBILITY_DELTA_DAYS_VAR_NAME = "TF_FORWARD_COMPATIBILITY_DELTA_DAYS"


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Bytes from bytes or text.

    >>> tf.compat.as_bytes("ab")
    b'ab'
    """
    value = bytes(bytes_or_text) if isinstance(bytes_or_text, bytearray) else _text_or_bytes(bytes_or_text)
    return value.encode(encoding) if isinstance(value, str) else value


def as_text(bytes_or_text, encoding="utf-8"):
    """Text from bytes or text."""
    value = _text_or_bytes(bytes_or_text)
    return value.decode(encoding) if isinstance(value, bytes) else value


as_str = as_text


def _text_or_bytes(value):
    if not isinstance(value, bytes_or_text_types):
        raise TypeError(f"Expected binary or unicode string, got {value!r}")
    return value


def as_str_any(value):
    """Text from anything: bytes are decoded, other values become `str(value)`."""
    return as_str(value) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path object as text; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def _date_to_date_number(year, month, day):
    """A number that grows with the day."""
    return (year << 9) | (month << 5) | day


def _update_forward_compatibility_date_number(date_to_override=None):
    """Take a day for the horizon; without one the settled day, moved by as many days as the environment says."""
    global _FORWARD_COMPATIBILITY_DATE_NUMBER
    days = int(os.environ.get(_FORWARD_COMPATIBILITY_DELTA_DAYS_VAR_NAME) or 0)
    date = date_to_override or _FORWARD_COMPATIBILITY_HORIZON + datetime.timedelta(days=days)
    _FORWARD_COMPATIBILITY_DATE_NUMBER = _date_to_date_number(date.year, date.month, date.day)


_update_forward_compatibility_date_number()


def forward_compatible(year, month, day):
    """Whether a graph may use what came on that day: its readers are newer."""
    return _FORWARD_COMPATIBILITY_DATE_NUMBER > _date_to_date_number(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """For tests: within it, `forward_compatible` answers as if the given day were today's horizon."""
    _update_forward_compatibility_date_number(datetime.date(year, month, day))
    try:
        yield
    finally:
        _update_forward_compatibility_date_number()
