"""tensorflow.python.debug.cli.cli_test_utils: assertions about lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np


def assert_lines_equal_ignoring_whitespace(
    test: Any, expected_lines: Sequence[str], actual_lines: Sequence[str]
) -> None:
    """Lines are alike but for blanks."""
    test.assertEqual(len(expected_lines), len(actual_lines))
    for expected, actual in zip(expected_lines, actual_lines, strict=True):
        test.assertEqual("".join(expected.split()), "".join(actual.split()))


def assert_array_lines_close(test: Any, expected_array: Any, array_lines: Sequence[str]) -> None:
    """The text of an array has about these elements."""
    text = re.sub(r"^\s*array\(|,\s*dtype=\w+|\)\s*$", "", " ".join(array_lines))
    elements = [float(word) for word in re.findall(r"[^\s,\[\]]+", text)]
    np.testing.assert_allclose(elements, np.ravel(expected_array), rtol=1e-5, atol=1e-6)
