# Made by `make stubs`.
from everflow._typing import Any, ScalarLike, TensorLike

def load_data(path: Any = 'boston_housing.npz', test_split: ScalarLike | None = 0.2, seed: TensorLike | None = 113) -> tuple[tuple[Any, Any], tuple[Any, Any]]: ...
