"""memory_test_util: whether a function that is called again and again keeps memory."""

import pytest

from everflow.legacy.inner.eager.memory import assert_no_leak


def test_what_is_kept_is_found():
    kept = []
    with pytest.raises(AssertionError, match="MB"):
        assert_no_leak(lambda: kept.append(bytes(b"x" * 4_000_000)), num_iters=20)
    kept.clear()


def test_what_is_let_go_is_fine():
    assert_no_leak(lambda: bytes(1000), num_iters=100)
