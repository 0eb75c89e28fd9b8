"""Freed memory is kept, unless the environment says how."""

import sys

import pytest

from everflow.runtime.memory import keep_freed_memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc")
def test_only_without_choices_in_the_environment(monkeypatch):
    keep_freed_memory.cache_clear()
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000")
    assert keep_freed_memory() is False
    keep_freed_memory.cache_clear()
    for name in ("MALLOC_TRIM_THRESHOLD_", "LD_PRELOAD", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    assert keep_freed_memory() in (True, False)
    keep_freed_memory.cache_clear()
