"""A cell of a grid: each dimension has a recurrence of its own, and sees what the others have come to.

Dimensions without priority are computed first, from what came in; those with priority see the results of the others.
"""

from __future__ import annotations

from everflow.contrib.layers import fully_connected, xavier_initializer
from everflow.ops import array, math
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.rnn.cells import LSTMCell, LSTMStateTuple, RNNCell


class GridRNNCell(RNNCell):
    """A grid cell; `cell_fn(num_units)` makes the cell of each dimension, or of all where they are `tied`.

    `input_dims` take in the input, a part each; `output_dims` give the outputs; dimensions in `non_recurrent_dims` are
    one layer with `non_recurrent_fn` and keep no state.

    >>> cell = tf.contrib.grid_rnn.GridRNNCell(64, num_dims=2, input_dims=0, output_dims=0, priority_dims=0)
    """

    def __init__(
        self, num_units, num_dims=1, input_dims=None, output_dims=None, priority_dims=None, non_recurrent_dims=None, tied=False,
        cell_fn=None, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True,
    ):  # fmt: skip
        super().__init__()
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._state_is_tuple = state_is_tuple
        self._output_is_tuple = output_is_tuple
        self._num_units, self._count = num_units, num_dims
        self._input_dims, self._output_dims = _dims(input_dims, num_dims), _dims(output_dims, num_dims)
        self._plain_dims = set(_dims(non_recurrent_dims, num_dims))
        first = _dims(priority_dims, num_dims)
        self._stages = [[d for d in range(num_dims) if d not in first], first]
        self._recurrent_dims = [d for d in range(num_dims) if d not in self._plain_dims]
        self._tied = tied
        self._non_recurrent_fn = non_recurrent_fn
        made = cell_fn or (lambda units: LSTMCell(units, state_is_tuple=state_is_tuple))
        self._cells = [made(num_units)] * num_dims if tied else [made(num_units) for _ in range(num_dims)]
        if not all(isinstance(cell, RNNCell) for cell in self._cells):
            raise ValueError("cell_fn must give cells of the type RNNCell")

    @property
    def output_size(self):
        sizes = tuple(self._cells[d].output_size for d in self._output_dims)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self):
        sizes = tuple(self._cells[d].state_size for d in self._recurrent_dims)
        return sizes if self._state_is_tuple else sum(_total(size) for size in sizes)

    def __call__(self, inputs, state, scope=None):
        """(outputs, next state)."""
        with variable_scope(scope or type(self).__name__):
            memory, carried = self._taken(state)
            self._project(inputs, memory, carried)
            new: dict[int, object] = {}  # dimension → state, or value where there is none
            outputs: dict[int, object] = {}
            for dims in self._stages:
                seen = [outputs.get(d, memory[d]) for d in range(self._count)]
                self._stage(dims, [m for m in seen if m is not None], carried, new, outputs)
            chosen = tuple(outputs[d] for d in self._output_dims)
            states = tuple(new[d] for d in self._recurrent_dims)
            return (
                chosen if self._output_is_tuple else array.concat(chosen, 1),
                states if self._state_is_tuple else array.concat([part for s in states for part in _parts(s)], 1),
            )

    def _taken(self, state):
        """What each dimension's state shows to the others, and what an LSTM keeps beside."""
        if not self._state_is_tuple:
            sizes = [n for d in self._recurrent_dims for n in _parts(self._cells[d].state_size)]
            pieces = iter(array.split(state, sizes, 1))
            state = tuple(_packed(self._cells[d].state_size, pieces) for d in self._recurrent_dims)
        memory: list = [None] * self._count
        carried: list = [None] * self._count
        for d, held in zip(self._recurrent_dims, state, strict=True):
            *kept, memory[d] = _parts(held)
            carried[d] = kept[0] if kept else None
        return memory, carried

    def _project(self, inputs, memory, carried) -> None:
        """Put the input in the place of the input dimensions' states."""
        if not self._input_dims or inputs is None or not inputs.shape.with_rank(2).size(1):
            return
        parts = array.split(inputs, len(self._input_dims), 1)
        shape = [parts[0].shape.size(1), self._num_units]
        for d, part in zip(self._input_dims, parts, strict=True):
            memory[d] = math.matmul(part, get_variable(f"project_m_{d}", shape, inputs.dtype))
            if isinstance(self._cells[d].state_size, tuple):
                carried[d] = math.matmul(part, get_variable(f"project_c_{d}", shape, inputs.dtype))

    def _stage(self, dims, seen, carried, new, outputs) -> None:
        """The dimensions of one stage: all but the last of what is seen is a cell's input, the last its state."""
        if not dims:
            return
        *before, last = seen
        if before:
            others = array.concat(before, 1)
        else:
            others = array.zeros([last.shape.size(0) or array.shape(last)[0], 0], last.dtype)
        for d in dims:
            kind = "non_recurrent" if d in self._plain_dims else "recurrent"
            everything = array.concat([others, last], 1) if d in self._plain_dims else None
            with variable_scope(kind if self._tied else f"{kind}/cell_{d}") as within:
                if everything is not None:
                    begin = within.initializer or xavier_initializer()
                    settings = {"activation_fn": self._non_recurrent_fn, "weights_initializer": begin}
                    outputs[d] = fully_connected(everything, self._num_units, **settings)
                    continue
                own = last if carried[d] is None else LSTMStateTuple(carried[d], last)
                outputs[d], new[d] = self._cells[d](others, own)


def _dims(given, count: int) -> list[int]:
    """Numbers of dimensions from one, several or None."""
    dims = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    if any(not 0 <= d < count for d in dims):
        raise ValueError(f"Invalid dims: {dims}. Must be in [0, {count})")
    return sorted(dims)


def _parts(state) -> list:
    return list(state) if isinstance(state, tuple) else [state]


def _total(size) -> int:
    return sum(_parts(size))


def _packed(size, pieces):
    return LSTMStateTuple(next(pieces), next(pieces)) if isinstance(size, tuple) else next(pieces)
