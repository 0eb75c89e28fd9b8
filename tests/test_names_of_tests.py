"""A source file's tests are found by its name: those of `everflow/ops/math/clip.py` are in
`tests/ops/math/test_clip.py`.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# The folders of the package for which this holds.
FOLDERS = ["ops"]
# Source files whose tests are elsewhere, and why.
ELSEWHERE: dict[str, str] = {}


def sources(folder):
    """The source files of a folder, but those that only hand on names."""
    return sorted(p for p in (ROOT / "everflow" / folder).rglob("*.py") if p.name != "__init__.py")


def place_of_tests(source):
    """Where a source file's tests are."""
    place = source.relative_to(ROOT / "everflow")
    return ROOT / "tests" / place.parent / f"test_{place.name}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_source_file_has_its_tests(folder):
    missing = [str(s.relative_to(ROOT)) for s in sources(folder) if not place_of_tests(s).exists()]
    assert [name for name in missing if name not in ELSEWHERE] == []


def test_exceptions_are_needed():
    for name in ELSEWHERE:
        assert (ROOT / name).exists() and not place_of_tests(ROOT / name).exists(), name
