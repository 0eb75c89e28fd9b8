"""`tf.train.SyncReplicasOptimizer`: gradients of several replicas are collected, averaged and applied once.

Each replica puts its gradients into accumulators and waits for a token; the chief's queue runner takes the averages,
updates the variables and puts a token with the new step for each replica into a queue.
"""

from __future__ import annotations

from everflow.framework.composites import IndexedSlices
from everflow.framework.dtypes import int32
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, control_dependencies, device, name_scope
from everflow.ops import array
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.queues.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from everflow.ops.queues.queues import FIFOQueue
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import Variable, global_variables, report_uninitialized_variables
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.train.optimizer import Optimizer
from everflow.train.queue_runner import QueueRunner
from everflow.train.session_run_hook import SessionRunHook


class SyncReplicasOptimizer(Optimizer):
    """An optimizer around another one, that applies the mean of `replicas_to_aggregate` gradients.

    Args:
        opt: The optimizer.
        replicas_to_aggregate: How many gradients make a step.
        total_num_replicas: How many workers there are; as many if None.
        variable_averages: A `tf.train.ExponentialMovingAverage` to keep.
        variables_to_average: The variables it is kept of.
        use_locking: Whether others wait until an update of the variable is done.
        name: What the operations' names start with.

    Example:
        >>> w, count = tf.Variable(1.0), tf.train.get_or_create_global_step()
        >>> optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=4)
        >>> step = optimizer.minimize(tf.square(w), global_step=count)
        >>> hook = optimizer.make_session_run_hook(is_chief=True)
        >>> isinstance(hook, tf.train.SessionRunHook)
        True
    """

    @takes(
        """opt, replicas_to_aggregate, total_num_replicas=None, variable_averages=None, variables_to_average=None,
        use_locking=False, name="sync_replicas" """,
    )
    def __init__(self, opt, replicas_to_aggregate, total_num_replicas, use_locking, name, **averages):
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        logging.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, total)
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total
        # There is a token for each replica, and enough of them that none waits for ever.
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self.__dict__.update({f"_{attribute}": value for attribute, value in averages.items()})
        self._gradients_applied = False
        self._global_step = None
        self._sync_token_queue = None
        self._chief_queue_runner = None

    def compute_gradients(self, *args, **kwargs):
        """What the inner optimizer computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An op that hands this replica's gradients over and waits until all have been applied."""
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        with colocate_with(no_op()):
            local = {"collections": [GraphKeys.LOCAL_VARIABLES], "trainable": False}
            dtype = global_step.dtype.base_dtype
            self._local_step = Variable(0, dtype=dtype, name="sync_rep_local_step", **local)
        self.local_step_init_op = state.assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            accumulators, handed_over, averaged = self._accumulate(grads_and_vars)
            with device(global_step.device), name_scope(""):
                # Only the chief runs this, through the queue runner.
                update = self._opt.apply_gradients(averaged, global_step)
                self._sync_token_queue = FIFOQueue(
                    -1, global_step.dtype.base_dtype, shapes=(), name="sync_token_q", shared_name="sync_token_q"
                )
                dummy = FIFOQueue(1, int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")
                with control_dependencies(handed_over):
                    token = self._sync_token_queue.dequeue()
                train = state.assign(self._local_step, token)
                with control_dependencies([update]):
                    tokens = array.fill([self._tokens_per_step], global_step)
                    sync = self._sync_token_queue.enqueue_many((tokens,))
                if self._variable_averages is not None:
                    with control_dependencies([sync]):
                        sync = self._variable_averages.apply(self._variables_to_average)
                self._chief_queue_runner = QueueRunner(dummy, [sync])
            starts = [self.local_step_init_op]
            for accumulator, where in accumulators:
                with device(where):
                    starts.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(*starts)
            self._gradients_applied = True
            return train

    def _accumulate(self, grads_and_vars):
        """(accumulators and their devices, ops that put gradients in, averages by variable)"""
        accumulators, handed_over, averaged = [], [], []
        for grad, variable in grads_and_vars:
            if grad is None:
                averaged.append((None, variable))
                continue
            name = variable.name + "/grad_accum"
            with device(variable.device):
                if isinstance(grad, Tensor):
                    accumulator = ConditionalAccumulator(grad.dtype, shape=variable.get_shape(), shared_name=name)
                    handed_over.append(accumulator.apply_grad(grad, local_step=self._local_step))
                    averaged.append((accumulator.take_grad(self._replicas_to_aggregate), variable))
                elif isinstance(grad, IndexedSlices):
                    accumulator = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=name)
                    handed_over.append(accumulator.apply_indexed_slices_grad(grad, local_step=self._local_step))
                    averaged.append((accumulator.take_indexed_slices_grad(self._replicas_to_aggregate), variable))
                else:
                    raise ValueError("Unknown grad type!")
            accumulators.append((accumulator, variable.device))
        return accumulators, handed_over, averaged

    def _check_applied(self, what):
        if not self._gradients_applied:
            raise ValueError(f"{what} should be called after apply_gradients()")

    def get_chief_queue_runner(self):
        """The queue runner that the chief starts; it applies the gradients and gives out tokens."""
        self._check_applied("get_chief_queue_runner()")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens=-1):
        """An op that puts the first tokens in, so that replicas can run ahead of those that are missing."""
        self._check_applied("get_init_tokens_op()")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"The first step needs {needed} tokens or more, and num_tokens is {num_tokens}")
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._sync_token_queue.enqueue_many((array.fill([num_tokens], self._global_step),))

    def get_slot(self, *args, **kwargs):
        """A slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        """The inner optimizer's variables."""
        return self._opt.variables()

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """A hook that starts what this optimizer needs when a monitored session is made."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    def __init__(self, sync_optimizer, is_chief, num_tokens):
        self._sync_optimizer, self._is_chief, self._num_tokens = sync_optimizer, is_chief, num_tokens

    def begin(self):
        optimizer = self._sync_optimizer
        optimizer._check_applied("The hook of a SyncReplicasOptimizer")
        self._runner = self._first_tokens = None
        if self._is_chief:
            self._local_init_op = optimizer.chief_init_op
            self._runner = optimizer.get_chief_queue_runner()
            self._first_tokens = optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._local_init_op = optimizer.local_step_init_op

    def after_create_session(self, session, coord):
        missing = session.run(self._sync_optimizer.ready_for_local_init_op)
        if len(missing):
            raise RuntimeError(f"Init operations did not make model ready: SyncReplicasOptimizer still lacks {missing}")
        session.run(self._local_init_op)
        if self._first_tokens is not None:
            session.run(self._first_tokens)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)
