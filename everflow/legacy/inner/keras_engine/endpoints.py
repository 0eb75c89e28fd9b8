"""`_TrainingEndpoint` of `tensorflow.python.keras.engine.training`: an output with its target, loss and weights."""

from __future__ import annotations

from typing import Any

from everflow.keras.engine.endpoints import Endpoint


class _TrainingEndpoint(Endpoint):
    """An output of a model that is trained, made from its parts."""

    def __init__(
        self,
        output: Any,
        output_name: str,
        loss_fn: Any,
        loss_weight: float | None = None,
        training_target: Any = None,
        output_loss_metric: Any = None,
        sample_weight: Any = None,
        sample_weight_mode: str | None = None,
    ) -> None:
        super().__init__(output, output_name, loss_fn, sample_weight_mode)
        self.loss_weight, self.loss_metric, self.sample_weight = loss_weight, output_loss_metric, sample_weight
        if training_target is not None:
            self.make_target(training_target)

    def create_training_target(self, target: Any, run_eagerly: bool = False) -> None:
        """Let the output be compared with a tensor, or with a placeholder for None; eagerly, data comes with each batch."""
        if run_eagerly:
            self.is_fed = not self.should_skip_target()
        else:
            self.make_target(target)

    def populate_sample_weight(self, sample_weight: Any, sample_weight_mode: str | None) -> None:
        """Give the output weights of samples: those given, or a placeholder where a mode asks for them."""
        self.sample_weight_mode, self.sample_weight = sample_weight_mode, sample_weight
        if sample_weight is None and sample_weight_mode is not None:
            self.make_sample_weight()
