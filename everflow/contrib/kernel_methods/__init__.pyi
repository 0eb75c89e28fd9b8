# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, ScalarLike, TensorLike

class RandomFourierFeatureMapper:
    _input_dim: Any
    _name: Any
    _output_dim: Any
    _seed: Any
    _stddev: Any
    def __init__(self, input_dim: Any, output_dim: Any, stddev: ScalarLike | None = 1.0, seed: TensorLike | None = 1, name: str | None = None) -> None: ...
    @property
    def input_dim(self) -> Any: ...
    def map(self, input_tensor: Any) -> _tf.Tensor: ...
    @property
    def name(self) -> Any: ...
    @property
    def output_dim(self) -> Any: ...

def sparse_multiclass_hinge_loss(labels: Any, logits: TensorLike, weights: Any = 1.0, scope: str | _tf.VariableScope | None = None, loss_collection: str | None = 'losses', reduction: str | None = 'weighted_sum_by_nonzero_weights') -> _tf.Tensor: ...
