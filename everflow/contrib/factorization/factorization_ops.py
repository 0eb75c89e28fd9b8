"""Weighted alternating least squares: a sparse matrix as a product of two thin ones.

With one factor fixed, the best rows of the other are solutions of small linear systems; the entries that were not
observed come in through the Gramian of the fixed factor. Entry (i, j) weighs unobserved_weight, and as much more as the
weights of its row and column multiply to if it was observed.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.diagonals import diag_part
from everflow.ops.array.indexing import unique
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.linalg.decompositions import eye, matrix_solve
from everflow.ops.random.distributions import random_normal
from everflow.ops.variables import assign as state
from everflow.ops.variables.scope import get_variable
from everflow.ops.variables.variable import Variable


class _Side:
    """The factors of rows or of columns, in shards: their weights, their Gramian, and copies that a worker keeps."""

    def __init__(self, model, name, size, shards, init, weights, components):
        self.name, self.size, self.shards = name, size, shards
        self.starts = np.cumsum([0, *_shard_sizes(size, shards)]).tolist()
        sizes = [end - start for start, end in zip(self.starts, self.starts[1:])]
        self.weights = None
        if weights is not None:
            self.weights = [
                model._variable(_of_shard(weights, i, n), f"{name}_weights_shard_{i}") for i, n in enumerate(sizes)
            ]
        self.factors = []
        self._sizes, self._init, self._components = sizes, init, components

    def create_factors(self, model):
        for i, n in enumerate(self._sizes):
            random = isinstance(self._init, str)
            first = random_normal([n, self._components]) if random else np.float32(self._init[i])
            self.factors.append(model._variable(first, f"{self.name}_factors_shard_{i}"))

    def create_gramian(self, model):
        zeros = array.zeros([self._components, self._components], dtypes.float32)
        self.gramian = model._variable(zeros, f"{self.name}_gramian")

    def prepare_gramian(self):
        """An op that works out the products of the factors' columns."""
        parts = [math.matmul(part, part, transpose_a=True) for part in self.factors]
        return state.assign(self.gramian, math.add_n(parts)).op

    def cached(self, variables, name, keep):
        """Copies of variables that stay on this worker, and the ops that fill them; the variables where none are kept."""
        if not keep or variables is None:
            return variables, []
        copies = [
            Variable(
                v.initialized_value(), trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name=name.format(i)
            )
            for i, v in enumerate(variables)
        ]
        return copies, [state.assign(copy, v).op for copy, v in zip(copies, variables)]

    def joined(self, parts):
        return parts[0] if len(parts) == 1 else array.concat(list(parts), 0)

    def scattered(self, ids, rows):
        """Ops that write rows into the shards that have them."""
        made = []
        for i, (start, end) in enumerate(zip(self.starts, self.starts[1:])):
            here = math.logical_and(ids >= start, ids < end)
            mine = array.boolean_mask(ids, here) - start
            made.append(state.scatter_update(self.factors[i], mine, array.boolean_mask(rows, here)))
        return made


def _shard_sizes(size, shards):
    return [size // shards + (i < size % shards) for i in range(shards)]


def _of_shard(weights, number, size):
    """The weights of one shard: of a number, of a list, or of lists for each shard."""
    if isinstance(weights, (int, float)):
        return np.full(size, weights, np.float32)
    if isinstance(weights[number if np.ndim(weights[0]) else 0], (int, float)):
        return np.float32(weights)[:size]
    return np.float32(weights[number])


class WALSModel:
    """Factors of a sparse matrix, and ops that fit them in turns.

    >>> model = tf.contrib.factorization.WALSModel(rows, columns, n_components=10, unobserved_weight=0.1)
    >>> row_update = model.update_row_factors(sp_input=matrix)[1]
    >>> session.run(model.initialize_op)
    >>> session.run(model.row_update_prep_gramian_op); session.run(model.initialize_row_update_op)
    >>> session.run(row_update)
    """

    @classmethod
    def scatter_update(cls, factor, indices, values, sharding_func, name=None):
        """An op that writes rows of a factor that may be in several variables.

        Args:
            factor: The variables.
            indices: The numbers of rows, in the whole factor.
            values: The rows.
            sharding_func: `fn(indices)` with the number of the variable and the row in it, for each.
            name: The name of the operation in the graph.
        """
        if len(factor) == 1:
            return state.scatter_update(factor[0], indices, values, name=name).op
        shards, rows = sharding_func(indices)
        rows = array.dynamic_partition(rows, shards, len(factor))
        values = array.dynamic_partition(values, shards, len(factor))
        written = [state.scatter_update(*parts) for parts in zip(factor, rows, values, strict=True)]
        return group(*written, name=name)

    def __init__(
        self,
        input_rows,
        input_cols,
        n_components,
        unobserved_weight=0.1,
        regularization=None,
        row_init="random",
        col_init="random",
        num_row_shards=1,
        num_col_shards=1,
        row_weights=1,
        col_weights=1,
        use_factors_weights_cache=True,
        use_gramian_cache=True,
        use_scoped_vars=False,
    ):
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights must be None both, or neither of them")
        self._input_rows, self._input_cols = input_rows, input_cols
        self._n_components = n_components
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._use_scoped_vars = use_scoped_vars
        self._row = _Side(self, "row", input_rows, num_row_shards, row_init, row_weights, n_components)
        self._col = _Side(self, "col", input_cols, num_col_shards, col_init, col_weights, n_components)
        sides = (self._row, self._col)
        for side in sides:
            side.create_factors(self)
        for side in sides:
            side.create_gramian(self)
        self._prepare = {side: side.prepare_gramian() for side in sides}
        self._kept, self._fill, self._copies = {}, {side: [] for side in sides}, []
        with name_scope("transient_vars"):
            for kind, keep in (
                ("factors", use_factors_weights_cache),
                ("weights", use_factors_weights_cache),
                ("gramian", use_gramian_cache),
            ):
                for side in sides:
                    held = [side.gramian] if kind == "gramian" else getattr(side, kind)
                    label = {
                        "factors": "factors_cache_shard_{}",
                        "weights": "wt_cache_shard_{}",
                        "gramian": "gramian_cache",
                    }
                    copies, fill = side.cached(held, f"{side.name}_{label[kind]}", keep)
                    self._kept[side, kind] = copies
                    self._fill[side] += fill
                    self._copies += copies if fill else []

    def _variable(self, value, name):
        if self._use_scoped_vars:
            return get_variable(name, initializer=convert_to_tensor(value), trainable=False, use_resource=False)
        return Variable(value, dtype=dtypes.float32, trainable=False, name=name, use_resource=False)

    row_factors = property(lambda self: self._row.factors)
    col_factors = property(lambda self: self._col.factors)
    row_weights = property(lambda self: self._row.weights)
    col_weights = property(lambda self: self._col.weights)
    row_update_prep_gramian_op = property(lambda self: self._prepare[self._col])
    col_update_prep_gramian_op = property(lambda self: self._prepare[self._row])

    @property
    def initialize_op(self):
        """An op that gives all variables of the model their first values."""
        held = [*(self._row.weights or []), *(self._col.weights or []), *self._row.factors, *self._col.factors]
        return group(*(v.initializer for v in (*held, self._row.gramian, self._col.gramian)))

    @property
    def worker_init(self):
        """An op for each worker: copies of what it uses."""
        return group(*(copy.initializer for copy in self._copies)) if self._copies else no_op()

    @property
    def initialize_row_update_op(self):
        """An op to run before rows are updated: fresh copies of the columns' factors."""
        return group(*self._fill[self._col], *self._weights_fill(self._row)) if self._fill[self._col] else no_op()

    @property
    def initialize_col_update_op(self):
        return group(*self._fill[self._row], *self._weights_fill(self._col)) if self._fill[self._row] else no_op()

    def _weights_fill(self, side):
        held = self._kept[side, "weights"]
        if held is None or held is side.weights:
            return []
        return [state.assign(copy, v).op for copy, v in zip(held, side.weights)]

    def update_row_factors(self, sp_input=None, transpose_input=False):
        """(new factors, op that writes them, loss, what the factors' size costs, sum of weights) of the rows in input."""
        return self._process_input_helper(True, sp_input=sp_input, transpose_input=transpose_input)

    def update_col_factors(self, sp_input=None, transpose_input=False):
        """As `update_row_factors`, for columns."""
        return self._process_input_helper(False, sp_input=sp_input, transpose_input=transpose_input)

    def project_row_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """The factors that rows would have, with weights for them."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input_helper(True, sp_input, transpose_input, row_weights=weights)[0]

    def project_col_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """The factors that columns would have, with weights for them."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input_helper(False, sp_input, transpose_input, row_weights=weights)[0]

    def _process_input_helper(self, update_row_factors, sp_input=None, transpose_input=False, row_weights=None):
        if not isinstance(sp_input, SparseTensor):
            raise TypeError(f"The input is a SparseTensor, and not {type(sp_input).__name__}")
        left, right = (self._row, self._col) if update_row_factors else (self._col, self._row)
        # Whether the rows of the input are those that are solved for.
        rows_first = update_row_factors != transpose_input
        position, other = (0, 1) if rows_first else (1, 0)
        projecting = row_weights is not None
        ids, places = unique(sp_input.indices[:, position])
        columns = sp_input.indices[:, other]
        if projecting:  # rows of a new matrix, as many as it has
            count = sp_input.dense_shape[position]
            places = math.cast(sp_input.indices[:, position], dtypes.int32)
        else:
            count = array.size(ids, out_type=dtypes.int64)
        factors = right.joined(self._kept[right, "factors"])
        gramian = self._kept[right, "gramian"][0]
        indices = array.stack([math.cast(places, dtypes.int64), columns], 1)
        extra, lhs, rhs = self._sides(left, right, factors, indices, sp_input.values, count, ids, row_weights)
        total = self._unobserved_weight * convert_to_tensor(gramian) + lhs
        if self._regularization is not None:
            total += self._regularization * eye(self._n_components)
        solved = array.squeeze(matrix_solve(total, array.expand_dims(rhs, -1)), [2])
        update = no_op() if projecting else group(*left.scattered(ids, solved))
        told = self._told(left, right, solved, factors, gramian, indices, sp_input.values, extra, count)
        return (solved, update, *told)

    def _sides(self, left, right, factors, indices, values, count, ids, row_weights):
        """(what each entry weighs beyond the unobserved weight, left and right sides of the rows' systems)."""
        if left.weights is None:
            used = array.gather(factors, indices[:, 1]) * array.expand_dims(self._unobserved_weight * values, 1)
            rhs = math.unsorted_segment_sum(used, indices[:, 0], count)
            width = self._n_components
            return None, array.zeros(array.stack([count, width, width]), dtypes.float32), rhs
        if row_weights is None:
            of_rows = array.gather(left.joined(self._kept[left, "weights"]), ids)
        else:
            of_rows = convert_to_tensor(row_weights, dtypes.float32)
            if of_rows.shape.ndims == 0:
                of_rows = array.fill(array.stack([count]), of_rows)
        of_columns = right.joined(self._kept[right, "weights"])
        extra = array.gather(of_rows, indices[:, 0]) * array.gather(of_columns, indices[:, 1])
        lhs, rhs = raw.WALSComputePartialLhsAndRhs(
            factors,
            of_columns,
            self._unobserved_weight,
            of_rows,
            indices,
            values,
            array.zeros([0], dtypes.float32),
            count,
            False,
        )
        return extra, lhs, rhs

    def _told(self, left, right, solved, factors, gramian, indices, values, extra, count):
        """(loss without the cost of size, that cost, the sum of weights), scaled up to all rows."""
        scale = left.size / math.cast(count, dtypes.float32)
        predicted = math.reduce_sum(array.gather(solved, indices[:, 0]) * array.gather(factors, indices[:, 1]), 1)
        weight = self._unobserved_weight if extra is None else extra + self._unobserved_weight
        observed = weight * math.square(values - predicted) - self._unobserved_weight * math.square(predicted)
        everywhere = math.reduce_sum(math.matmul(solved, gramian) * solved)
        loss = scale * (math.reduce_sum(observed) + self._unobserved_weight * everywhere)
        cost = convert_to_tensor(0.0)
        if self._regularization is not None:
            of_rows = math.reduce_sum(math.square(solved)) * scale
            cost = self._regularization * (of_rows + math.reduce_sum(diag_part(convert_to_tensor(gramian))))
        weights = self._unobserved_weight * math.cast(count, dtypes.float32) * right.size
        if extra is not None:
            weights += math.reduce_sum(extra)
        return loss, cost, scale * weights
