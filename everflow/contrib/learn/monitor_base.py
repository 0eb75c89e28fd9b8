"""What all monitors of tf.contrib.learn are made of: what they are told, and every n-th step of it."""

from __future__ import annotations


class BaseMonitor:
    """Base of monitors: `step_begin(step)` says what to fetch, `step_end(step, output)` gets it, and may stop.

    The calls have to come in their order; what doesn't is a ValueError.
    """

    _begun = False
    # What is under way, how far it may go, and whose training it is.
    _current_epoch = _current_step = _max_steps = _estimator = None

    run_on_all_workers = property(lambda self: False, doc="Whether workers that are not chief have it run, too.")

    def set_estimator(self, estimator):
        """Which estimator is trained."""
        if estimator is None:
            raise ValueError("A monitor watches an estimator, got None")
        if self._estimator not in (None, estimator):
            raise ValueError("This monitor watches another estimator already: make one for each")
        self._estimator = estimator

    def begin(self, max_steps=None):
        """Called before training."""
        if self._begun:
            raise ValueError("begin was called twice, with no end between")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session=None):
        """Called after training."""
        if not self._begun:
            raise ValueError("end was called, and no begin before it")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch):
        """Called before an epoch."""
        if self._current_epoch is not None:
            raise ValueError(f"Epoch {epoch} begins, and {self._current_epoch} has not ended")
        if epoch < 0:
            raise ValueError(f"Epochs count from 0, got {epoch}")
        self._current_epoch = epoch

    def epoch_end(self, epoch):
        """Called after an epoch."""
        if self._current_epoch != epoch:
            raise ValueError(f"Epoch {epoch} ends, and {self._current_epoch} has begun")
        self._current_epoch = None

    def step_begin(self, step):
        """The tensors to fetch in this step, or their names."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"There is no step {step} of {self._max_steps}")
        self._current_step = step
        return []

    def step_end(self, step, output):
        """What the step gave, by name; True asks to stop."""
        if self._current_step != step:
            raise ValueError(f"Step {step} ends, and {self._current_step} has begun")
        self._current_step = None
        return False

    def post_step(self, step, session):
        """Called after each step with the session."""


class EveryN(BaseMonitor):
    """A monitor that looks at the first steps, and then at each n-th."""

    def __init__(self, every_n_steps=100, first_n_steps=1):
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        # The step before this one, the last one that was looked at, and whether this one is.
        self._before, self._looked_at, self._looks = None, 0, False

    def every_n_step_begin(self, step):
        """What to fetch in a step that is looked at."""
        return []

    def every_n_step_end(self, step, outputs):
        """What such a step gave, by name; True asks to stop."""
        return False

    def every_n_post_step(self, step, session):
        """Called after such a step with the session, and at the end."""

    def step_begin(self, step):
        super().step_begin(step)
        due = self._looked_at + self._every_n_steps
        self._looks = step <= self._first_n_steps or step >= due or step == self._max_steps
        return self.every_n_step_begin(step) if self._looks else []

    def step_end(self, step, output):
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._looks else False

    def post_step(self, step, session):
        super().post_step(step, session)
        self._before = step
        if self._looks:
            self._looked_at = step
            self.every_n_post_step(step, session)

    def end(self, session=None):
        super().end(session)
        if self._before not in (None, self._looked_at):
            self.every_n_post_step(self._before, session)
