"""A terminal session as an animated SVG: commands are really run, and what they print appears line by line."""

from __future__ import annotations

import html
import os
import pathlib
import subprocess
import sys
import tempfile

from docsite.blocks import ROOT, blocks

PROGRAM = "train_digits.py"  # of the chapter on checkpoints
COMMANDS = [
    ("grep import " + PROGRAM, ["grep", "import", PROGRAM], 4),
    (f"everflow run {PROGRAM} --steps=200", [sys.executable, "-m", "everflow", "run", PROGRAM, "--steps=200"], 4),
    ("everflow inspect digits", [sys.executable, "-m", "everflow", "inspect", "digits"], 12),
]
LINE, WIDTH = 20, 720
TYPING, THINKING, SHOWING = 0.05, 1.2, 0.12  # seconds: a letter, before an answer, between its lines


def draw() -> str:
    """The picture. Browsers play it once, and its end stays; where nothing is played, all of it is shown."""
    texts, clock = [], 0.5
    for shown, lines in _session():
        clock += len(shown) * TYPING
        texts.append((clock, f"$ {shown}", "#8ae234"))
        clock += THINKING
        for line in lines:
            texts.append((clock, line, "#d3d7cf"))
            clock += SHOWING
        clock += THINKING
    height = 30 + LINE * len(texts)
    rows = "\n".join(
        f'<text x="16" y="{34 + LINE * i}" fill="{colour}">{html.escape(text).replace(" ", "&#160;")}'
        f'<set attributeName="opacity" to="0" begin="0s" end="{at:.2f}s"/></text>'
        for i, (at, text, colour) in enumerate(texts)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'font-family="ui-monospace, monospace" font-size="14">\n'
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#1e1e2e"/>\n{rows}\n</svg>\n'
    )


def _session() -> list[tuple[str, list[str]]]:
    """Commands, and the first lines of what each prints."""
    page = (ROOT / "docs/course/checkpoints.md").read_text()
    program = next(block.code for block in blocks(page) if block.title == PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "dumb"}
    done = []
    with tempfile.TemporaryDirectory() as folder:
        # As an old program has it.
        (pathlib.Path(folder) / PROGRAM).write_text(program.replace("import everflow as tf", "import tensorflow as tf"))
        for shown, command, count in COMMANDS:
            ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
            done.append((shown, ran.stdout.splitlines()[:count]))
    return done
