"""Hooks of training whose runs make several steps each, as on TPUs: names from inside TensorFlow's
`training.basic_session_run_hooks` and `training.evaluation`.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_default_graph
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.initializers import ones_initializer
from everflow.ops.variables.scope import AUTO_REUSE, get_variable, variable_scope
from everflow.train.evaluation import StopAfterNEvalsHook
from everflow.train.hook_timers import check_one_given
from everflow.train.session_run_hook import SessionRunHook

_STEPS_PER_RUN_VAR = "steps_per_run"
_HOOKS = "hooks"


def get_or_create_steps_per_run_variable():
    """The local variable that says how many steps a call of `run` makes, 1 unless a program sets another number."""
    graph = get_default_graph()
    collection = f"{_HOOKS}_{_STEPS_PER_RUN_VAR}"
    found = graph.get_collection(collection)
    if len(found) > 1:
        raise RuntimeError(f"The collection {collection!r} has {len(found)} variables, where one is wanted")
    if found:
        return found[0]
    with graph.as_default(), graph.name_scope(None), variable_scope(_HOOKS, reuse=AUTO_REUSE, use_resource=True):
        return get_variable(
            _STEPS_PER_RUN_VAR,
            [],
            dtypes.int32,
            ones_initializer(),
            trainable=False,
            collections=[collection, GraphKeys.LOCAL_VARIABLES],
        )


class _MultiStepStopAfterNEvalsHook(StopAfterNEvalsHook):
    """Stops an evaluation after so many batches, of which a run does several; the last runs do as many as are left."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1) -> None:
        super().__init__(num_evals)
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session, coord) -> None:
        each = self._steps_per_run_initial_value
        self._steps_per_run_variable.load(each if self._num_evals is None else min(each, self._num_evals), session)

    def after_run(self, run_context, run_values) -> None:
        super().after_run(run_context, run_values)
        if self._num_evals is not None:
            left = self._num_evals - run_values.results["evals_completed"]
            self._steps_per_run_variable.load(min(max(left, 1), self._steps_per_run_initial_value), run_context.session)


class _MultiStepStopAtStepHook(SessionRunHook):
    """Stops training at a step, where a run makes several; the last run makes as many as are left."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int = 1) -> None:
        check_one_given("_MultiStepStopAtStepHook", num_steps=num_steps, last_step=last_step)
        if steps_per_run < 1:
            raise ValueError(f"steps_per_run is how many steps a run makes, 1 or more, not {steps_per_run}")
        self._num_steps, self._last_step = num_steps, last_step
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("There is no global step, by which training would be stopped: create one first")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _set_steps_left(self, step, session) -> None:
        left = min(max(self._last_step - step, 1), self._steps_per_run_initial_value)
        self._steps_per_run_variable.load(left, session=session)

    def after_create_session(self, session, coord) -> None:
        step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = step + self._num_steps
        self._set_steps_left(step, session)

    def after_run(self, run_context, run_values) -> None:
        step = run_context.session.run(self._global_step_tensor)
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._set_steps_left(step, run_context.session)
