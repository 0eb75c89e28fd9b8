"""Steps of training under a strategy, as callables: what programs ran before strategies had loops of their own."""

from __future__ import annotations

import abc
import itertools

from everflow.distribute import context
from everflow.framework.strategy_context import Frame, entered
from everflow.ops.control_flow.grouping import group


class Step(abc.ABC):
    """One step under a strategy: calling it gives an op, or makes the step when executing eagerly."""

    def __init__(self, distribution):
        self._distribution = distribution

    @property
    def distribution(self):
        return self._distribution

    def initialize(self):
        """Ops to run before the first step."""
        return []

    @abc.abstractmethod
    def __call__(self):
        """Make the step."""


class StandardInputStep(Step):
    """A step that takes its input from a dataset."""

    def __init__(self, dataset_fn, distribution):
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self):
        return self._iterator.initialize()


class StandardSingleLossStep(StandardInputStep):
    """A step that makes one loss smaller.

    >>> step = StandardSingleLossStep(dataset_fn, loss_fn, tf.train.GradientDescentOptimizer(0.2), strategy)
    """

    def __init__(self, dataset_fn, loss_fn, optimizer, distribution, iterations_per_step=1):
        super().__init__(dataset_fn, distribution)
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self):
        with self._distribution.scope():
            return group(*[self._iteration() for _ in range(self._iterations_per_step)])

    def _iteration(self):
        """One batch in all replicas."""
        inputs = self._iterator.get_next()
        extended = self._distribution.extended
        made = extended.call_for_each_replica(self._train, args=inputs if isinstance(inputs, tuple) else (inputs,))
        return self._distribution.group(made)

    def _train(self, *inputs):
        """What one replica does with its part of a batch."""
        return self._optimizer.minimize(self._loss_fn(context.get_replica_context(), *inputs))


class UpdateContext:
    """In it, variables are updated on one device."""

    def __init__(self, device):
        self._entered = entered(Frame(context.get_strategy(), update_device=device))

    def __enter__(self):
        return self._entered.__enter__()

    def __exit__(self, *raised):
        return self._entered.__exit__(*raised)


class Monitor:
    """Runs steps one after the other, in a session or eagerly."""

    def __init__(self, step_callable, session=None):
        self._run_step = step_callable if session is None else session.make_callable(step_callable())

    def run_steps(self, num_steps=None):
        """Make so many steps; without a number, until the program is stopped."""
        for _ in itertools.count() if num_steps is None else range(num_steps):
            self._run_step()
