"""Exporters: write SavedModels while a model trains, after each evaluation, the best of them, or the last."""

from __future__ import annotations

import abc
import os

from everflow.estimator.arguments import fn_args
from everflow.estimator.evaluation_results import evaluations_in
from everflow.platform import file_io, logging
from everflow.platform.signatures import takes


class Exporter(abc.ABC):
    """Called by `train_and_evaluate` after each evaluation.

    Example:
        >>> isinstance(tf.estimator.FinalExporter("final", lambda: None), tf.estimator.Exporter)
        True
    """

    @property
    @abc.abstractmethod
    def name(self):
        """The name of the folder below `export/`."""

    @abc.abstractmethod
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Export a model to `export_path`; the path it wrote as bytes, or None."""


class _SavedModelExporter(Exporter):
    """What the exporters below share: how a SavedModel is written, and how many are kept."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=None):
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
        self._name, self._exports_to_keep = name, exports_to_keep
        self._settings = {"assets_extra": assets_extra, "as_text": as_text}
        self._settings["serving_input_receiver_fn"] = serving_input_receiver_fn

    name = property(lambda self: self._name)

    def _export(self, estimator, export_path, checkpoint_path):
        written = estimator.export_saved_model(export_path, checkpoint_path=checkpoint_path, **self._settings)
        remove_old_exports(export_path, self._exports_to_keep)
        return written


def remove_old_exports(export_path, exports_to_keep):
    """Remove all but the newest exports of a folder; None keeps all."""
    if exports_to_keep is None:
        return
    exports = sorted(
        int(name.rstrip("/")) for name in file_io.list_directory(export_path) if name.rstrip("/").isdigit()
    )
    for version in exports[:-exports_to_keep]:
        file_io.delete_recursively(os.path.join(export_path, str(version)))


class FinalExporter(_SavedModelExporter):
    """Exports once, when training has come to its end.

    Args:
        name: Its name, which tells several of them apart in logs and summaries.
        serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
        assets_extra: Files to copy, by their paths in the SavedModel.
        as_text: Whether the SavedModel is text.

    Example:
        >>> tf.estimator.FinalExporter("final", lambda: None).name
        'final'
    """

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return self._export(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModelExporter):
    """Exports after every evaluation and keeps the newest.

    Args:
        name: Its name, which tells several of them apart in logs and summaries.
        serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
        assets_extra: Files to copy, by their paths in the SavedModel.
        as_text: Whether the SavedModel is text.
        exports_to_keep: How many exports are kept.

    Example:
        >>> tf.estimator.LatestExporter("latest", lambda: None).name
        'latest'
    """

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return self._export(estimator, export_path, checkpoint_path)


def _loss_smaller(best_eval_result, current_eval_result):
    """Whether the current evaluation has the smaller loss."""
    for what, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or "loss" not in result:
            raise ValueError(f"{what} has no loss to compare: {result}")
    return best_eval_result["loss"] > current_eval_result["loss"]


class BestExporter(_SavedModelExporter):
    """Exports when an evaluation is better than all before, also those in the files of `event_file_pattern`.

    Args:
        name: Its name, which tells several of them apart in logs and summaries.
        serving_input_receiver_fn: A function that returns a `ServingInputReceiver`.
        event_file_pattern: The event files of evaluations, below the model's folder.
        compare_fn: A function of the best and the new metrics that says whether the new ones are better; by the loss by
            default.
        assets_extra: Files to copy, by their paths in the SavedModel.
        as_text: Whether the SavedModel is text.
        exports_to_keep: How many exports are kept.

    Example:
        >>> tf.estimator.BestExporter("best", serving_input_receiver_fn=lambda: None).name
        'best'
    """

    @takes(
        """name="best_exporter", serving_input_receiver_fn=None, event_file_pattern="eval/*.tfevents.*",
        compare_fn=smaller, assets_extra=None, as_text=False, exports_to_keep=5""",
        smaller=_loss_smaller,
    )
    def __init__(self, event_file_pattern, compare_fn, **settings):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _check_compare_fn(compare_fn)
        super().__init__(**settings)
        self._compare_fn = compare_fn
        self._event_file_pattern = event_file_pattern
        self._model_dir = None
        self._best_eval_result = None

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            # Training may have been interrupted: what was best before is in the event files.
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._best_of_events(os.path.join(self._model_dir, self._event_file_pattern))
        best = self._best_eval_result
        if best is not None and not self._compare_fn(best_eval_result=best, current_eval_result=eval_result):
            return None
        logging.info("Performing best model export.")
        self._best_eval_result = eval_result
        return self._export(estimator, export_path, checkpoint_path)

    def _best_of_events(self, pattern):
        best = None
        for _, result in evaluations_in(pattern):
            if best is None or self._compare_fn(best, result):
                best = result
        return best


def _check_compare_fn(compare_fn):
    names = set(fn_args(compare_fn))
    for name in ("best_eval_result", "current_eval_result"):
        if name not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    if unknown := sorted(names - {"best_eval_result", "current_eval_result"}):
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {unknown}")
