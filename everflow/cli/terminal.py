"""Where commands print: a console of rich with colours and tables that fit the terminal; where there is none, plain text
with each row on one line.
"""

from __future__ import annotations

import sys

from rich.console import Console


def console(markup: bool = True) -> Console:
    """The console of standard output. Without `markup`, square brackets are only brackets: for names out of files."""
    made = Console(markup=markup, highlight=False, emoji=False)
    if not made.is_terminal:
        made.width = sys.maxsize
    return made
