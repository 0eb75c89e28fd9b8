"""Whoever changes a source file finds its tests by its name: everflow/kernels/math/cast.py has
tests/kernels/math/test_cast.py.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Source files without a test of their name, and why.
EXCEPTIONS: dict[str, str] = dict.fromkeys(
    [
        f"native/{name}.py"
        for name in "exponentials formulas libm_tables normals polynomials rounding special_functions stream_loops tensorflow_forms trigonometry".split()
    ],
    "tested by way of math_functions, philox and streams, which give out what is in them",
) | dict.fromkeys(
    [
        f"native/loops/{name}.py"
        for name in (
            "automaton_runs base64_digits colors csv_lines hashes jpeg_cuts numbers objects record_blocks records repeats resizing"
            " splits tables text utf8 words"
        ).split()
    ],
    "loops that tests of the kernels which call them compare with the kernels' plain ways",
)
EXCEPTIONS["native/linker.py"] = "tests of object_files.py, which stands in for it, compare the two"
EXCEPTIONS["native/loops/compiling.py"] = "the translation's tests call what it makes"

FOLDERS = ["framework", "native", "ops", "kernels", "runtime"]


def sources(folder):
    """The source files of a folder, as they are called below the package."""
    package = ROOT / "everflow"
    return {p.relative_to(package).as_posix() for p in (package / folder).rglob("*.py") if p.name != "__init__.py"}


def named_after(source):
    path = Path(source)
    return ROOT / "tests" / path.parent / f"test_{path.name}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_source_file_has_its_test(folder):
    found = sources(folder)
    assert found
    assert sorted(s for s in found - set(EXCEPTIONS) if not named_after(s).exists()) == []


def test_exceptions_are_needed():
    assert [s for s in EXCEPTIONS if not (ROOT / "everflow" / s).exists() or named_after(s).exists()] == []


def test_no_test_gives_numpy_its_old_ways():
    # In this process they would stay for all other tests: `tests.served` brings the paths of tensorflow alone.
    bringing = [p for p in (ROOT / "tests").rglob("test_*.py") if "\nimport everflow.as_tensorflow" in p.read_text()]
    assert bringing == []
