"""The site builds, and no link in it is broken."""

import importlib.util
import subprocess
import sys

import pytest

from docsite.blocks import ROOT

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("material") and importlib.util.find_spec("mkdocstrings")),
    reason='needs pip install ".[docs]"',
)


def test_examples_in_docstrings_are_code():
    from docsite.doctests import fenced

    assert fenced("Twice.\n\n    >>> 1 + 1\n    2\n\nMore.") == (
        "Twice.\n\n    ```pycon\n    >>> 1 + 1\n    2\n    ```\n\nMore."
    )
    assert fenced("```\n>>> 1\n1\n```") == "```\n>>> 1\n1\n```"


def test_captions_are_for_readers():
    from docsite.hooks import _REASON

    block = '```console title="Not run: installs packages"\n$ pip install .\n```\n'
    assert _REASON.sub(r"\1\2", block) == block.replace("Not run: ", "")


def test_what_is_made_at_import_is_described_like_the_rest():
    from docsite import reference

    described = reference._described(
        "Twice.\n\nArgs:\n    x: A number.\n\nReturns:\n    2 | x.\n\nExample:\n    >>> 1\n    1"
    )
    assert "| `x` | A number. |" in described and "**Returns:** 2 | x." in described
    assert described.endswith("```pycon\n>>> 1\n1\n```")
    assert reference._without_address("a=<function relu6 at 0x7fc4>") == "a=relu6"
    assert reference._without_address("a=<everflow.ops.Zeros object at 0x7fc4>") == "a=Zeros"
    assert reference._without_address("a='<x>'") == "a='<x>'"


def test_pictures_are_small_and_all_are_drawn_by_code():
    from docsite.pictures import FOLDER, PICTURES

    there = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert set(there) == {name for name, _, _ in PICTURES}
    assert max(there.values()) < 100_000


def test_the_site_builds_without_a_warning(tmp_path):
    # Not --quiet: what isn't said isn't counted, and the build would be taken for one without a warning.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in (
        "index.html",
        "zh/index.html",
        "compatibility/index.html",
        "names/index.html",
        "source/everflow/runtime/session.py/index.html",
    ):
        assert (tmp_path / "site" / page).exists()
