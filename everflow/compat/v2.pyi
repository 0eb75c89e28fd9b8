# Made by `make stubs`.
from typing import Any

def __getattr__(name: str) -> Any: ...
