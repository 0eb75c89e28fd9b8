"""Every code block of README and docs is run, and prints what the page shows beside it."""

import os
import pathlib
import subprocess
import sys

import pytest

from docsite import warm
from docsite.blocks import ROOT, blocks, pages
from docsite.run_page import agree

# Translations have the same code, which a test below compares.
PAGES = [
    path
    for path in pages()
    if not path.name.endswith(".zh.md") and any(block.runs for block in blocks(path.read_text()))
]
LANGUAGES = {"python", "console", "text", "mermaid", "yaml", "toml", "llvm"}


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """That of the processes of pages, which are forked from one that has imported the package."""
    path = str(tmp_path_factory.mktemp("warm") / "socket")
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "https_proxy": "http://127.0.0.1:1",  # nothing is downloaded
        "MPLBACKEND": "agg",
        warm.VARIABLE: path,
    }
    with warm.served(path, env):
        yield env


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_runs_and_prints_what_is_shown(page, tmp_path, environment, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("printed", "w+") as file:
        code = warm.python(["-m", "docsite.run_page", str(page)], environment, file.fileno(), timeout=300)
        assert code == 0, pathlib.Path("printed").read_text()


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_block_says_what_it_is(page):
    unknown = [(b.line, b.language) for b in blocks(page.read_text()) if b.language not in LANGUAGES]
    assert not unknown, "a block is Python or console, which run; or text, which is shown"
    fences = [line for line in page.read_text().splitlines() if line.lstrip().startswith("```")]
    assert len(fences) == 2 * len(blocks(page.read_text()))


def test_what_is_printed_may_differ_in_the_last_digits_only():
    assert agree("loss 0.5012\n", "loss 0.5013\n")
    assert agree("[[1. 2.]\n [3. 4.]]", "[[1.  2.]\n [3.  4.]]")
    assert agree("first\n...\nlast", "first\nmany\nmore\nlast")
    assert not agree("loss 0.5012", "loss 0.6")
    assert not agree("3 steps", "4 steps")
    assert not agree("loss 0.5", "loss nan")


def test_a_page_that_is_wrong_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n3\n```\n")
    command = [sys.executable, "-m", "docsite.run_page", str(page)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "page.md:6: the page shows\n3" in done.stdout
    subprocess.run([*command, "--write"], env=environment, check=True)
    assert page.read_text().endswith("```text\n2\n```\n")


def chinese():
    return sorted(ROOT.glob("docs/**/*.zh.md")) + [path for path in [ROOT / "README.zh.md"] if path.exists()]


@pytest.mark.parametrize("page", chinese(), ids=name)
def test_translations_have_the_same_code(page):
    original = page.with_name(page.name.replace(".zh.md", ".md"))

    def code(path):
        return [(b.language, b.code) for b in blocks(path.read_text())]

    assert code(page) == code(original)
