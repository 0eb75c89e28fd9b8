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


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in (
        "index.html",
        "zh/index.html",
        "compatibility/index.html",
        "source/everflow/runtime/session.py/index.html",
    ):
        assert (tmp_path / "site" / page).exists()
