# Made by `make stubs`.
from everflow._typing import Any

def hyperplane_lsh_probes(point_hyperplane_product: Any, num_tables: Any, num_hyperplanes_per_table: Any, num_probes: Any, name: str | None = None) -> Any: ...
from everflow.contrib.libsvm import not_differentiable as not_differentiable
