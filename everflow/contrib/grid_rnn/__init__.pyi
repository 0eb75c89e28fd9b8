# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, Callable, ScalarLike, Sequence, SizeLike

class Grid1BasicLSTMCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], forget_bias: ScalarLike | None = 1, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid1BasicRNNCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid1LSTMCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], use_peepholes: bool = False, forget_bias: ScalarLike | None = 1.0, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid2BasicLSTMCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], tied: bool = False, non_recurrent_fn: Callable[..., Any] | None = None, forget_bias: ScalarLike | None = 1, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid2BasicRNNCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], tied: bool = False, non_recurrent_fn: Callable[..., Any] | None = None, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid2GRUCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], tied: bool = False, non_recurrent_fn: Callable[..., Any] | None = None, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid2LSTMCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], tied: bool = False, non_recurrent_fn: Callable[..., Any] | None = None, use_peepholes: bool = False, forget_bias: ScalarLike | None = 1.0, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class Grid3LSTMCell(GridRNNCell):
    def __init__(self, num_units: SizeLike | Sequence[Any], tied: bool = False, non_recurrent_fn: Callable[..., Any] | None = None, use_peepholes: bool = False, forget_bias: ScalarLike | None = 1.0, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...

class GridRNNCell(_tf.nn.rnn_cell.RNNCell):
    _cells: Any
    _count: Any
    _input_dims: Any
    _non_recurrent_fn: Any
    _num_units: Any
    _output_dims: Any
    _output_is_tuple: Any
    _plain_dims: Any
    _recurrent_dims: Any
    _stages: Any
    _state_is_tuple: Any
    _tied: Any
    carried: Any
    memory: Any
    new: Any
    outputs: Any
    def __init__(self, num_units: SizeLike | Sequence[Any], num_dims: ScalarLike | None = 1, input_dims: Any = None, output_dims: Any = None, priority_dims: Any = None, non_recurrent_dims: Any = None, tied: bool = False, cell_fn: Callable[..., Any] | None = None, non_recurrent_fn: Callable[..., Any] | None = None, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _project(self, inputs: Any, memory: Any, carried: Any) -> None: ...
    def _stage(self, dims: Any, seen: Any, carried: Any, new: Any, outputs: Any) -> None: ...
    def _taken(self, state: Any) -> tuple[Any, Any]: ...
    @property
    def output_size(self) -> Any: ...
    @property
    def state_size(self) -> Any: ...

def namedtuple(typename: Any, field_names: Any, *, rename: bool = False, defaults: Any = None, module: Any = None) -> type: ...
