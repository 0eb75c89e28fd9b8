"""Links from pages to files of the repository lead to pages that show these files.

Pages link to `../everflow/runtime/session.py` as any Markdown in a repository does. MkDocs knows only what is below
`docs/`; so every file that a page links to becomes a page of the site, with its lines numbered, and the link is changed.
"""

from __future__ import annotations

import ast
import functools
import os
import pathlib
import re
import sys

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # MkDocs loads this file by its path
from docsite import blocks, flowcharts  # noqa: E402

SOURCE = "source/"
# The documents that are pages by themselves, and files whose links are followed.
DOCUMENTS = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "examples/README.md"]
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(?=[)#])")
_REASON = re.compile(rf'^( *```\w+ title=")(?:{"|".join(blocks.NOT_RUN)})(.)', re.MULTILINE)
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".yml": "yaml", ".proto": "protobuf", "": "make"}


def _meant(document: str, link: str) -> str:
    """What a link in a document of the repository leads to, as a path in the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(document), link)).replace(os.sep, "/")


def _document(page: str) -> str:
    """The file of the repository that a page shows."""
    return page.removeprefix(SOURCE) if page.startswith(SOURCE) else f"docs/{page}"


def _page(path: str) -> str:
    """The page that shows a file or folder of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/") + ("/README.md" if (ROOT / path).is_dir() else "")
    if (ROOT / path).is_dir():
        return f"{SOURCE}{path}/index.md"
    return SOURCE + (path if path.endswith(".md") else f"{path}.md")


def _linked() -> set[str]:
    """Paths outside of docs/ that pages, or documents among those paths, link to."""
    found: set[str] = set()
    waiting = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    waiting += [path for path in DOCUMENTS if (ROOT / path).exists()]
    while waiting:
        document = waiting.pop()
        if not document.startswith("docs/"):
            found.add(document)
        if document.endswith(".md"):
            links = {_meant(document, link) for link in _LINK.findall(_FENCE.sub("", (ROOT / document).read_text()))}
            waiting += [path for path in links - found if not path.startswith("docs") and (ROOT / path).exists()]
    return found


def _shown(path: str) -> str:
    """A page with a file, or with what is in a folder."""
    place = ROOT / path
    if place.suffix == ".md":
        return place.read_text()
    head = f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
    if place.is_dir():
        return head + "".join(f"- `{file.name}`{_opening(file)}\n" for file in sorted(place.glob("*.*")))
    # More backticks than any file has in a row.
    return f'{head}`````{_LANGUAGES.get(place.suffix, "text")} linenums="1"\n{place.read_text().rstrip()}\n`````\n'


def _opening(file: pathlib.Path) -> str:
    """The first sentence of what a source file says of itself."""
    if file.suffix != ".py" or not (said := ast.get_docstring(ast.parse(file.read_text()))):
        return ""
    return ": " + re.split(r"(?<=[.:])\s", " ".join(said.split("\n\n")[0].split()), maxsplit=1)[0].rstrip(":")


@functools.cache
def _made_pages() -> dict[str, str]:
    """Pages that are made of what is in the package."""
    from docsite import compatibility, reference  # load every kernel, which `mkdocs serve` need do once only

    return {"names.md": compatibility.page(), "reference/index.md": reference.index(), **reference.pages()}


class BuiltBefore(File):
    """A page that the build of the first language has made: others link to it and don't make it again."""

    def is_documentation_page(self) -> bool:
        return False

    def copy_file(self, dirty: bool = False) -> None:
        pass


@event_priority(-200)  # after the translations, which would take `.py.md` for the language "py"
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Every file of the repository that a page links to is a page; others are made of what is in the package."""
    kind = File if config.plugins["i18n"].is_default_language_build else BuiltBefore
    made = {_page(path): _shown(path) for path in sorted(_linked())} | _made_pages()
    for page, content in made.items():
        files.append(kind.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository lead to their pages; flowcharts are drawn; captions are for readers."""
    shown = page.file.src_uri
    folder = os.path.dirname(shown)

    def changed(match: re.Match[str]) -> str:
        path = _meant(_document(shown), match[1])
        if shown.startswith(SOURCE) or not path.startswith("docs"):
            if (ROOT / path).exists():  # else it stays as it is, and MkDocs says that it is broken
                return os.path.relpath(_page(path), folder).replace(os.sep, "/")
        return match[1]

    # Why a block isn't run is a caption; that it isn't concerns those who write pages.
    markdown = _REASON.sub(lambda match: match[1] + match[2][:1].upper() + match[2][1:], markdown)
    markdown = flowcharts.FENCE.sub(lambda match: flowcharts.draw(match[1]), markdown)
    return _LINK.sub(changed, markdown)
