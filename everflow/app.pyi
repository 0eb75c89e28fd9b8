# Made by `make stubs`.
from everflow._typing import Any

from everflow import flags as flags
def run(main: Any = None, argv: Any = None) -> None: ...
