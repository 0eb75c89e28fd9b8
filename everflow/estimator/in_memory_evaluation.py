"""`InMemoryEvaluatorHook`: evaluates while training, in a graph of its own that gets values without a checkpoint."""

from __future__ import annotations

from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.ops.array.constants import placeholder
from everflow.ops.control_flow.grouping import group
from everflow.train.hooks import SecondOrStepTimer
from everflow.train.scaffold import Scaffold
from everflow.train.session_run_hook import SessionRunHook


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates an estimator before training, every so many steps, and at the end.

    Args:
        estimator: The Estimator.
        input_fn: A function that returns features and labels, or a Dataset of both.
        steps: How many batches; until the input ends if None.
        hooks: Objects that are called around each run.
        name: Its name, which tells several evaluations apart.
        every_n_iter: Every how many runs.

    Example:
        >>> regressor = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], "model")
        >>> type(tf.estimator.experimental.InMemoryEvaluatorHook(regressor, lambda: None)).__name__
        'InMemoryEvaluatorHook'
    """

    def __init__(self, estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._steps = steps
        self._name = name
        self._every_n_iter = every_n_iter
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = estimator._eval_hooks(steps, hooks)
        self._graph = None

    def begin(self):
        self._timer = SecondOrStepTimer(every_steps=self._every_n_iter)
        self._timer.reset()
        self._iterations = 0
        self._graph = Graph()
        with self._graph.as_default(), self._graph.device(self._estimator._device_fn):
            self._scaffold, self._update_op, self._values, self._all_hooks = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, checkpoint_path=None
            )
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            variables = get_collection(GraphKeys.GLOBAL_VARIABLES)
            self._placeholders = {v.name: placeholder(v.dtype.base_dtype) for v in variables}
            self._set_variables = group(*(v.assign(self._placeholders[v.name]) for v in variables))

    def after_create_session(self, session, coord):
        if get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        self._train_variables = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}
        missing = sorted(set(self._placeholders) - set(self._train_variables))
        if missing:
            raise ValueError(f"The evaluation graph has variables that the training graph has not: {missing}")
        self._evaluate(session)

    def after_run(self, run_context, run_values):
        self._iterations += 1
        if self._timer.should_trigger_for_step(self._iterations):
            self._evaluate(run_context.session)

    def end(self, session):
        self._evaluate(session)

    def _evaluate(self, session):
        values = session.run({name: self._train_variables[name] for name in self._placeholders})
        with self._graph.as_default():
            feeds = {self._placeholders[name]: value for name, value in values.items()}
            starts = {"init_op": self._set_variables, "init_feed_dict": feeds}
            scaffold = Scaffold(**starts, copy_from_scaffold=self._scaffold)
            drawn = scaffold, self._update_op, self._values, self._all_hooks
            self._estimator._evaluate_run(None, *drawn, self._eval_dir)
        self._timer.update_last_triggered_step(self._iterations)
