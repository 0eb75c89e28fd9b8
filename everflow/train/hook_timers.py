"""When a hook acts: timers by steps or seconds, the tensor that tells the step, and hooks that act by both."""

from __future__ import annotations

import time

from everflow.ops.variables.global_step import _get_or_create_global_step_read
from everflow.summary.writer import FileWriterCache
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


def step_tensor(who):
    """The tensor from which hooks read the global step."""
    tensor = _get_or_create_global_step_read()
    if tensor is None:
        raise RuntimeError(f"Global step should be created to use {who}.")
    return tensor


def check_one_given(who, **arguments):
    """ValueError unless exactly one of these arguments is given, that is, not None."""
    if sum(value is not None for value in arguments.values()) != 1:
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        raise ValueError(f"{who} needs exactly one of {' and '.join(arguments)}; got {given}")


class _HookTimer:
    """Says at which steps something is due."""

    def reset(self):
        """Forget when it was last due."""

    def should_trigger_for_step(self, step):
        """Whether it is due at this step."""
        raise NotImplementedError

    def update_last_triggered_step(self, step):
        """Note that it was done at this step; gives (seconds, steps) since the last time."""
        raise NotImplementedError

    def last_triggered_step(self):
        """The step at which it was last done."""
        raise NotImplementedError


class SecondOrStepTimer(_HookTimer):
    """Due every so many seconds, or every so many steps; the first time at once.

    Args:
        every_secs: Every how many seconds; None to go by steps.
        every_steps: Every how many steps; None to go by seconds.

    Example:
        >>> timer = tf.train.SecondOrStepTimer(every_steps=10)
        >>> timer.should_trigger_for_step(0), timer.update_last_triggered_step(0), timer.should_trigger_for_step(5)
        (True, (None, None), False)
    """

    def __init__(self, every_secs=None, every_steps=None):
        check_one_given("A timer", every_secs=every_secs, every_steps=every_steps)
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self):
        self._last_triggered_step = None
        self._last_triggered_time = None

    def should_trigger_for_step(self, step):
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step):
        now = time.time()
        if self._last_triggered_time is None:
            elapsed = None, None
        else:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time = now
        self._last_triggered_step = step
        return elapsed

    def last_triggered_step(self):
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """Never due."""

    def should_trigger_for_step(self, step):
        return False

    def update_last_triggered_step(self, step):
        return None, None

    def last_triggered_step(self):
        return None


class StepHook(SessionRunHook):
    """A hook that is told the global step at each run."""

    def begin(self):
        self._global_step_tensor = step_tensor(type(self).__name__)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)


class PeriodicHook(StepHook):
    """A hook that acts every so many steps or seconds, in `_act`, and may write what it finds."""

    # By how much a run moves the step on.
    _steps_per_run = 1

    def __init__(self, every_secs, every_steps, output_dir=None, summary_writer=None):
        self._timer = SecondOrStepTimer(every_secs=every_secs, every_steps=every_steps)
        self._output_dir = output_dir
        self._summary_writer = summary_writer

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        super().begin()

    def after_run(self, run_context, run_values):
        # The step was fetched while the run counted it up: where it may be time, it is read again.
        if self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                self._act(run_context, step, *self._timer.update_last_triggered_step(step))

    def _act(self, run_context, step, elapsed_secs, elapsed_steps):
        """Do it, so long after the last time (None the first time)."""
        raise NotImplementedError

    def _save_last(self, session):
        """Call `_save(session, step)`, unless that was done at this step; gives the step."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        return step


class ForeseeingHook(PeriodicHook):
    """A hook that wants more of a run when it acts, so it decides before: by the step that should come next."""

    _acts_at_first_run = True

    def begin(self):
        super().begin()
        self._next_step = None

    def before_run(self, run_context):
        if self._next_step is None:
            self._request_summary = self._acts_at_first_run
        else:
            self._request_summary = self._timer.should_trigger_for_step(self._next_step)
        fetches, options = self._wanted() if self._request_summary else ({}, None)
        return SessionRunArgs({"global_step": self._global_step_tensor, **fetches}, options=options)

    def after_run(self, run_context, run_values):
        step = run_values.results["global_step"] + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            self._write(step, run_values)
        self._next_step = step + 1

    def _wanted(self):
        """(fetches by name, run options) of a run at which the hook acts."""
        raise NotImplementedError

    def _write(self, step, run_values):
        """Write what the run gave."""
        raise NotImplementedError
