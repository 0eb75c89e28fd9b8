"""The fenced code blocks of a Markdown page, and what each is for.

A title tells what a block is: a file's name (`title="train.py"`) has it written to that file; "Not run: ..." gives the
reader the reason why it isn't run. Python and console blocks without a title are run. A `text` block right after one of
Python is what that prints.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).parent.parent
NOT_RUN = ("Not run: ", "不运行：")
_FENCE = re.compile(r"^( *)```(\w*)(?: +title=\"([^\"]*)\")?[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Block:
    language: str
    title: str
    code: str
    line: int  # of the page, where the code begins
    span: tuple[int, int]  # of the code, in the page's text
    output: Block | None = None  # the block with what this one prints

    @property
    def is_file(self) -> bool:
        return bool(self.title) and not self.is_skipped

    @property
    def is_skipped(self) -> bool:
        return self.title.startswith(NOT_RUN)

    @property
    def runs(self) -> bool:
        return self.language in ("python", "console") and not self.title


def blocks(text: str) -> list[Block]:
    """The blocks of a page, in order."""
    found: list[Block] = []
    end_of_last = 0
    for match in _FENCE.finditer(text):
        indent, language, title, code = match.groups()
        code = re.sub(f"^{indent}", "", code, flags=re.MULTILINE)
        line = text.count("\n", 0, match.start(4)) + 1
        block = Block(language, title or "", code, line, match.span(4))
        follows = bool(found) and not text[end_of_last : match.start()].strip()
        if follows and language == "text" and not title and found[-1].language == "python" and found[-1].runs:
            found[-1].output = block
        found.append(block)
        end_of_last = match.end()
    return found


def pages() -> list[pathlib.Path]:
    """Every page of the documentation in English, and the documents beside it that hold code."""
    below_docs = sorted(path for path in (ROOT / "docs").rglob("*.md") if not path.name.endswith(".zh.md"))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md", *below_docs]
