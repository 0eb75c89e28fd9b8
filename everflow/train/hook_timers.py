"""When a hook acts: timers by steps or seconds, and the tensor that tells the step."""

from __future__ import annotations

import time

from everflow.train.global_step import _get_or_create_global_step_read


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
    """Due every so many seconds, or every so many steps; the first time at once."""

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
