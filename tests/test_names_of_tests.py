"""Every source file has a test file by its name: `everflow/framework/nest.py` → `tests/framework/test_nest.py`."""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[1]
FOLDERS = ["framework", "runtime"]
# Source files without tests by their name, and why.
EXCEPTIONS: dict[str, str] = {}


def sources(folder: str) -> list[pathlib.Path]:
    """The files of a folder and those inside it, from the package on; `__init__` says what a folder is."""
    package = ROOT / "everflow"
    return [p.relative_to(package) for p in sorted((package / folder).rglob("*.py")) if p.name != "__init__.py"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_source_file_has_a_test_file(folder):
    found = sources(folder)
    missing = [p.as_posix() for p in found if not (ROOT / "tests" / p.parent / f"test_{p.name}").exists()]
    assert found and [p for p in missing if p not in EXCEPTIONS] == []


def test_exceptions_are_files_without_tests():
    for path in EXCEPTIONS:
        source = ROOT / "everflow" / path
        assert source.exists(), f"{path} is gone"
        assert not (ROOT / "tests" / source.relative_to(ROOT / "everflow").parent / f"test_{source.name}").exists(), (
            path
        )
