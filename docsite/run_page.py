"""Run the code of a page in a folder of its own, and compare what it prints with what the page shows.

python -m docsite.run_page docs/course/variables.md            says where they differ
python -m docsite.run_page --write docs/course/variables.md    puts what was printed into the page
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import pathlib
import re
import shlex
import sys
import tempfile
import traceback

from docsite import warm
from docsite.blocks import ROOT, Block, blocks

# Another processor adds up in another order: fractions may differ by so much, or by one in the last digit shown.
TOLERANCE = 0.02
_PARTS = re.compile(r"(\.\.\.|-?\d+\.\d*(?:e[-+]?\d+)?|\s+)")
_COMMANDS = {"everflow": ["-m", "everflow"], "python": []}  # what follows `python`
_FRESH = {"profile"}  # commands whose switches are read when the package is imported


def agree(expected: str, printed: str) -> bool:
    """Whether this is what was expected: `...` stands for anything, fractions may differ a little, spaces in number."""
    numbers, pattern = [], ""
    for part in _PARTS.split(expected.strip()):
        if part == "...":
            pattern += ".*?"
        elif part.isspace():
            pattern += r"\s+"
        elif _PARTS.fullmatch(part):
            numbers.append(part)
            pattern += r"(-?\d+\.\d*(?:e[-+]?\d+)?)"
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    return match is not None and all(_near(shown, found) for shown, found in zip(numbers, match.groups()))


def _near(shown: str, found: str) -> bool:
    digits = len(shown.partition("e")[0].partition(".")[2])
    last_digit = 1.01 * 10.0**-digits if digits and "e" not in shown else 0.0
    return math.isclose(float(shown), float(found), rel_tol=TOLERANCE, abs_tol=last_digit)


class Runner:
    """Runs blocks in order in one namespace, in the current folder."""

    def __init__(self, page: pathlib.Path) -> None:
        self.page = page
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.text = page.read_text()
        self.printed: list[tuple[Block, str]] = []  # blocks that show an output, and what it was

    def run(self) -> list[str]:
        """What is wrong, in words."""
        wrong = []
        for block in blocks(self.text):
            where = f"{self.page.name}:{block.line}"
            if block.is_file:
                pathlib.Path(block.title).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(block.title).write_text(block.code)
            elif block.runs and block.language == "console":
                wrong += [f"{where}: {what}" for what in self._console(block)]
            elif block.runs:
                wrong += [f"{where}: {what}" for what in self._python(block)]
        return wrong

    def _python(self, block: Block) -> list[str]:
        out = io.StringIO()
        # Lines of the page: what a traceback shows can be found in it.
        code = compile("\n" * (block.line - 1) + block.code, str(self.page), "exec")
        with contextlib.redirect_stdout(out):
            try:
                exec(code, self.names)
            except Exception:
                return [f"{traceback.format_exc()}\nafter printing\n{out.getvalue()}"]
        if block.output is None:
            return []
        self.printed.append((block.output, out.getvalue()))
        return _compare(block.output.code, out.getvalue())

    def _console(self, block: Block) -> list[str]:
        wrong, shown = [], ""
        for part in re.split(r"^(?=\$ )", block.code, flags=re.MULTILINE):
            line, _, expected = part.partition("\n")
            while line.endswith("\\"):
                more, _, expected = expected.partition("\n")
                line = line[:-1] + more
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if not words:
                continue
            with tempfile.TemporaryFile("w+") as file:
                environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb"}
                if words[1] in _FRESH:
                    environment.pop(warm.VARIABLE, None)
                code = warm.python([*_COMMANDS[words[0]], *words[1:]], environment, file.fileno())
                file.seek(0)
                printed = file.read()
            shown += part[: len(part) - len(expected)] + printed
            if code and expected.strip() == "":
                wrong.append(f"{line}\nended with {code}:\n{printed}")
            if expected.strip():
                wrong += _compare(expected, printed)
        self.printed.append((block, shown))
        return wrong

    def write(self) -> None:
        """The page with what was printed."""
        for block, printed in sorted(self.printed, key=lambda pair: -pair[0].span[0]):
            lines = "\n".join(line.rstrip() for line in printed.strip("\n").split("\n")) + "\n"
            self.text = self.text[: block.span[0]] + lines + self.text[block.span[1] :]
        self.page.write_text(self.text)


def _compare(expected: str, printed: str) -> list[str]:
    return [] if agree(expected, printed) else [f"the page shows\n{expected}\nbut this was printed\n{printed}"]


def run_page(page: pathlib.Path, write: bool = False) -> list[str]:
    """Run a page in a temporary folder; what is wrong with it. Changes the state of this process."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        try:
            runner = Runner(page)
            wrong = runner.run()
        finally:
            os.chdir(here)
            sys.path.remove(folder)
    if write:
        runner.write()
        wrong = [what for what in wrong if "Traceback" in what or "ended with" in what]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="put what was printed into the page")
    args = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    wrong = run_page(args.page.resolve(), args.write)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
