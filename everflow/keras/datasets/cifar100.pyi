# Made by `make stubs`.
from everflow._typing import Any

def load_data(label_mode: Any = 'fine') -> tuple[Any, Any]: ...
