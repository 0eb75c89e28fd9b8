"""Where windows lie over an image: how many there are, and the padding around it."""

import pytest

from everflow.framework.windows import parse_format, slide


def test_slide():
    assert slide(5, 3, 2, "SAME") == (3, 1, 1)
    assert slide(6, 3, 2, "SAME") == (3, 0, 1)
    assert slide(5, 3, 2, "VALID") == (2, 0, 0)
    assert slide(5, 2, 1, "EXPLICIT", 2, (3, 1)) == (7, 3, 1)
    with pytest.raises(ValueError, match="negative"):
        slide(2, 5, 1, "VALID")
    assert parse_format("NCDHW").arrange("n", "dhw", "c") == ["n", "c", "d", "h", "w"]
