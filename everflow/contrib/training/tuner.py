"""What proposes settings for experiments, for `tf.contrib.learn.learn_runner.tune`."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any


class Tuner(abc.ABC):
    """A study of several trials."""

    @abc.abstractmethod
    def next_trial(self) -> bool:
        """Begin a new trial; false where there are to be no more."""

    @abc.abstractmethod
    def run_experiment(self, experiment_fn: Callable[..., Any]) -> Any:
        """Run `experiment_fn(run_config, hparams)`."""
