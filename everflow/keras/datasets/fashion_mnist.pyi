# Made by `make stubs`.
from everflow._typing import Any

def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]: ...
