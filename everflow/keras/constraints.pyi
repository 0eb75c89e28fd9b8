# Made by `make stubs`.
from everflow._typing import Any, AxisLike

class Constraint:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    _arguments: Any
    def get_config(self) -> dict[Any, Any]: ...

class MaxNorm(Constraint):
    axis: Any
    max_value: Any
    def __init__(self, max_value: Any = 2, axis: AxisLike = 0) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    _arguments: Any

class MinMaxNorm(Constraint):
    axis: Any
    max_value: Any
    min_value: Any
    rate: Any
    def __init__(self, min_value: Any = 0.0, max_value: Any = 1.0, rate: Any = 1.0, axis: AxisLike = 0) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    _arguments: Any

class NonNeg(Constraint):
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class RadialConstraint(Constraint):
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class UnitNorm(Constraint):
    axis: Any
    def __init__(self, axis: AxisLike = 0) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    _arguments: Any

def deserialize(config: Any, custom_objects: Any = None) -> Any: ...
def get(identifier: Any) -> Any: ...
max_norm = MaxNorm
maxnorm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
nonneg = NonNeg
radial_constraint = RadialConstraint
def serialize(constraint: Any) -> Any: ...
unit_norm = UnitNorm
unitnorm = UnitNorm
