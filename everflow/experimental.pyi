# Made by `make stubs`.
from everflow._typing import AbstractContextManager, Any

def function_executor_type(executor_type: Any) -> AbstractContextManager[Any]: ...
