# Made by `make stubs`.
from everflow._typing import Any

class DataDecoder:
    _abc_impl: Any
    def decode(self, data: Any, items: Any) -> Any: ...
    def list_items(self) -> Any: ...
