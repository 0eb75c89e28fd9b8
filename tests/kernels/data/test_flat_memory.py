"""Pipelines that go on for long take no more memory."""

import os

import pytest

from tests.kernels.data import flat_memory


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="looks at /proc")
@pytest.mark.slow  # and by itself: threads of other tests take memory, too
@pytest.mark.parametrize("name", flat_memory.SOURCES)
def test_memory_stays_flat(name, tmp_path):
    """A hundred bytes kept for each element would be more than this."""
    flat_memory.make_files(str(tmp_path))
    for _ in range(2):  # the first time something may be compiled, and a compiler loaded
        before, after = flat_memory.taken(name, str(tmp_path), 30_000)
    assert after - before < 2.7
