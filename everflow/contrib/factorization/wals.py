"""Factors of a sparse matrix as an estimator of tf.contrib.learn: rows and columns take turns, a sweep each."""

from __future__ import annotations

from everflow import summary
from everflow.contrib.factorization.factorization_ops import WALSModel
from everflow.contrib.learn.estimator import Estimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.array.indexing import unique
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables import assign as state
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class _SweepHook(SessionRunHook):
    """Begins each sweep with what it needs of the other factor, and ends training after the last."""

    def __init__(self, estimator, model, is_row_sweep, is_sweep_done, completed_sweeps):
        self._model, self._asked = model, {"row": is_row_sweep, "done": is_sweep_done, "sweeps": completed_sweeps}
        self._max_sweeps = estimator._max_sweeps
        self._prepare = {
            True: [model.row_update_prep_gramian_op, model.initialize_row_update_op],
            False: [model.col_update_prep_gramian_op, model.initialize_col_update_op],
        }
        self._worker_init, self._begun = model.worker_init, False

    def before_run(self, run_context):
        session = run_context.session
        if not self._begun:
            session.run(self._worker_init)
        found = session.run(self._asked)
        if found["done"] or not self._begun:
            for op in self._prepare[bool(found["row"])]:
                session.run(op)
            self._begun = True
        return SessionRunArgs(self._asked["sweeps"])

    def after_run(self, run_context, run_values):
        # The step that was just made may have ended a sweep.
        if self._max_sweeps is not None:
            completed = run_context.session.run(self._asked["sweeps"])
            if completed >= self._max_sweeps:
                run_context.request_stop()


class WALSMatrixFactorization(Estimator):
    """Factors of a sparse matrix, by weighted alternating least squares.

    The input function gives a dict with rows (`INPUT_ROWS`) and columns (`INPUT_COLS`) of the matrix as sparse tensors,
    and says in `PROJECT_ROW` which of the two predictions are for.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows,
        num_cols,
        embedding_dimension,
        unobserved_weight=0.1,
        regularization_coeff=None,
        row_init="random",
        col_init="random",
        num_row_shards=1,
        num_col_shards=1,
        row_weights=1,
        col_weights=1,
        use_factors_weights_cache_for_training=True,
        use_gramian_cache_for_training=True,
        max_sweeps=None,
        model_dir=None,
        config=None,
    ):
        self._max_sweeps = max_sweeps
        self._shards = num_row_shards, num_col_shards
        self._sizes = num_rows, num_cols
        self._of_model = {
            "n_components": embedding_dimension,
            "unobserved_weight": unobserved_weight,
            "regularization": regularization_coeff,
            "row_init": _in_shards(row_init, num_row_shards),
            "col_init": _in_shards(col_init, num_col_shards),
            "row_weights": row_weights,
            "col_weights": col_weights,
            "use_factors_weights_cache": use_factors_weights_cache_for_training,
            "use_gramian_cache": use_gramian_cache_for_training,
        }
        super().__init__(model_fn=self._model_fn, model_dir=model_dir, config=config)

    def get_row_factors(self):
        """The factors of rows, an array for each shard."""
        return [self.get_variable_value(f"row_factors_shard_{i}") for i in range(self._shards[0])]

    def get_col_factors(self):
        """The factors of columns, an array for each shard."""
        return [self.get_variable_value(f"col_factors_shard_{i}") for i in range(self._shards[1])]

    def get_projections(self, input_fn):
        """The factors that new rows, or columns, would have."""
        return (one[self.PROJECTION_RESULT] for one in self.predict(input_fn=input_fn))

    def _model_fn(self, features, labels, mode):
        model = WALSModel(
            *self._sizes, num_row_shards=self._shards[0], num_col_shards=self._shards[1], **self._of_model
        )
        rows, columns = features[self.INPUT_ROWS], features[self.INPUT_COLS]
        if mode == ModeKeys.INFER:
            return self._predicting(model, features, rows, columns)
        zero = {"shape": [], "trainable": False, "use_resource": False}
        loss = get_variable(self.LOSS, dtype=dtypes.float32, initializer=zeros_initializer(), **zero)
        rwse = get_variable(self.RWSE, dtype=dtypes.float32, initializer=zeros_initializer(), **zero)
        summary.scalar("loss", loss)
        summary.scalar("root_weighted_squared_error", rwse)

        def of_rows():
            return model.update_row_factors(sp_input=rows, transpose_input=False)[1:]

        def of_columns():
            return model.update_col_factors(sp_input=columns, transpose_input=True)[1:]

        if mode == ModeKeys.EVAL:
            return self._evaluating(features, of_rows, of_columns)
        is_row, is_done, sweeps, kept = self._sweeps(rows, columns)

        def stepped(updated, ids, processed):
            update, error, cost, weights = updated()
            noted = [state.assign(loss, error + cost), state.assign(rwse, math.sqrt(error / weights))]
            with control_dependencies([update, *noted]):
                seen = state.scatter_update(processed, ids, array.ones_like(ids, dtype=dtypes.bool))
            with control_dependencies([seen]):
                return math.reduce_all(processed)

        done = cond(
            is_row,
            lambda: stepped(of_rows, unique(rows.indices[:, 0])[0], kept[0]),
            lambda: stepped(of_columns, unique(columns.indices[:, 0])[0], kept[1]),
        )
        with control_dependencies([done]):
            finished = cond(done, lambda: self._next_sweep(is_row, sweeps, kept), lambda: array.identity(False))
        with control_dependencies([state.assign(is_done, finished)]):
            train_op = group(state.assign_add(get_global_step(), 1))
        hook = _SweepHook(self, model, is_row, is_done, sweeps)
        return ModelFnOps(mode, {}, loss, train_op, {}, training_hooks=[hook])

    def _sweeps(self, rows, columns):
        """The variables that say whose turn it is, whether it is over, how many were, and what it has seen."""
        held = {"trainable": False, "use_resource": False}
        zeros = zeros_initializer()
        sweeps = get_variable(self.COMPLETED_SWEEPS, [], dtypes.int64, zeros, **held)
        is_row = get_variable("is_row_sweep", dtype=dtypes.bool, initializer=True, **held)
        is_done = get_variable("is_sweep_done", dtype=dtypes.bool, initializer=False, **held)
        kept = [
            get_variable(name, [size], dtypes.bool, zeros, **held)
            for name, size in zip(("processed_rows", "processed_cols"), self._sizes)
        ]
        return is_row, is_done, sweeps, kept

    def _next_sweep(self, is_row, sweeps, kept):
        forgotten = [state.assign(part, array.zeros_like(part)) for part in kept]
        with control_dependencies(forgotten):
            others = state.assign(is_row, math.logical_not(is_row))
        with control_dependencies([others, state.assign_add(sweeps, 1)]):
            return array.identity(True)

    def _evaluating(self, features, of_rows, of_columns):
        def loss_of(updated):
            _, error, cost, _ = updated()
            return error + cost

        loss = cond(features[self.PROJECT_ROW], lambda: loss_of(of_rows), lambda: loss_of(of_columns))
        return ModelFnOps(ModeKeys.EVAL, {}, loss, None, {})

    def _predicting(self, model, features, rows, columns):
        weights = features.get(self.PROJECTION_WEIGHTS)
        prepared = [model.row_update_prep_gramian_op, model.col_update_prep_gramian_op]
        with control_dependencies(prepared):
            fresh = [model.initialize_row_update_op, model.initialize_col_update_op]
        with control_dependencies([model.worker_init, *fresh]):
            projection = cond(
                features[self.PROJECT_ROW],
                lambda: model.project_row_factors(rows, projection_weights=weights),
                lambda: model.project_col_factors(columns, transpose_input=True, projection_weights=weights),
            )
        return ModelFnOps(ModeKeys.INFER, {self.PROJECTION_RESULT: projection}, None, None, {})


def _in_shards(init, shards):
    """First values as a list with one array for each shard; words stay words."""
    if isinstance(init, str) or (isinstance(init, list) and len(init) == shards):
        return init
    size = len(init)
    starts = [0]
    for i in range(shards):
        starts.append(starts[-1] + size // shards + (i < size % shards))
    return [init[start:end] for start, end in zip(starts, starts[1:])]
