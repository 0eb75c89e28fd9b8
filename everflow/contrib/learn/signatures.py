"""Signatures of what estimators of tf.contrib.learn export: each way in with each way out."""

from __future__ import annotations

import os
import time

from everflow.contrib.learn import gc
from everflow.contrib.learn.export_strategies import ExportStrategy, make_export_strategy
from everflow.contrib.learn.model_ops import MetricKey, PredictionKey, ProblemType
from everflow.framework import dtypes
from everflow.platform import gfile
from everflow.platform.logging import warning
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.saved_model.signature_def_utils import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)
from everflow.summary.reading import summary_iterator
from everflow.train.checkpoint_state import latest_checkpoint

DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"
FEATURES_INPUT_ALTERNATIVE_KEY = "features_input_alternative"
_FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY = "default_output_alternative"
MAX_DIRECTORY_CREATION_ATTEMPTS = 10


def _get_classification_scores(output_tensors):
    scores = output_tensors.get(PredictionKey.SCORES)
    return output_tensors.get(PredictionKey.PROBABILITIES) if scores is None else scores


def _get_classification_classes(output_tensors):
    """The classes, where they are told by names."""
    classes = output_tensors.get(PredictionKey.CLASSES)
    return None if classes is None or classes.dtype != dtypes.string else classes


def _is_classification_problem(problem_type, input_tensors, output_tensors):
    told = (_get_classification_classes(output_tensors), _get_classification_scores(output_tensors)) != (None, None)
    kinds = ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION
    return problem_type in kinds and len(input_tensors) == 1 and (told or len(output_tensors) == 1)


def _is_regression_problem(problem_type, input_tensors, output_tensors):
    return problem_type == ProblemType.LINEAR_REGRESSION and len(input_tensors) == len(output_tensors) == 1


def build_standardized_signature_def(input_tensors, output_tensors, problem_type):
    """The signature of a classifier or a regressor where there is one tensor for each part of it, else of any model."""
    if _is_classification_problem(problem_type, input_tensors, output_tensors):
        (examples,) = input_tensors.values()
        classes, scores = _get_classification_classes(output_tensors), _get_classification_scores(output_tensors)
        if classes is None and scores is None:
            (only,) = output_tensors.values()
            classes, scores = (only, None) if only.dtype == dtypes.string else (None, only)
        return classification_signature_def(examples, classes, scores)
    if _is_regression_problem(problem_type, input_tensors, output_tensors):
        (examples,), (predictions,) = input_tensors.values(), output_tensors.values()
        return regression_signature_def(examples, predictions)
    return predict_signature_def(input_tensors, output_tensors)


def get_input_alternatives(input_ops):
    """({key: tensors that may be fed}, the features)."""
    if not input_ops.features:
        raise ValueError("There are no features to export a model of")
    return {DEFAULT_INPUT_ALTERNATIVE_KEY: input_ops.default_inputs}, input_ops.features


def get_output_alternatives(model_fn_ops, default_output_alternative_key=None):
    """({key: (kind of problem, tensors)}, the key of those that are answered by default)."""
    alternatives = model_fn_ops.output_alternatives
    if not alternatives:
        if default_output_alternative_key:
            raise ValueError(f"There are no output_alternatives, so none is {default_output_alternative_key!r}")
        predictions = model_fn_ops.predictions
        outputs = predictions if isinstance(predictions, dict) else {PredictionKey.GENERIC: predictions}
        return {
            _FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY: (ProblemType.UNSPECIFIED, outputs)
        }, _FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY
    key = default_output_alternative_key
    if key:
        if key not in alternatives:
            raise ValueError(f"There is no output alternative {key!r}; there are {sorted(alternatives, key=str)}")
        return alternatives, key
    if len(alternatives) > 1:
        raise ValueError(
            f"Of several output alternatives, say which is the default one: {sorted(alternatives, key=str)}"
        )
    return alternatives, next(iter(alternatives))


def build_all_signature_defs(input_alternatives, output_alternatives, actual_default_output_alternative_key):
    """{key: signature} of each way in with each way out, and of the default ones."""
    signatures = {
        f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(inputs, outputs, problem_type)
        for input_key, inputs in input_alternatives.items()
        for output_key, (problem_type, outputs) in output_alternatives.items()
    }
    inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if inputs is None:
        inputs = input_alternatives[FEATURES_INPUT_ALTERNATIVE_KEY]
    problem_type, outputs = output_alternatives[actual_default_output_alternative_key]
    signatures[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = build_standardized_signature_def(inputs, outputs, problem_type)
    return signatures


# --- folders


def get_timestamped_export_dir(export_dir_base):
    """The path of a folder that isn't there yet, named by the time in seconds."""
    for _ in range(MAX_DIRECTORY_CREATION_ATTEMPTS):
        folder = os.path.join(_as_bytes(export_dir_base), str(int(time.time())).encode())
        if not gfile.Exists(folder):
            return folder
        warning("Export directory %s is there already; the next second's is tried.", folder)
        time.sleep(1)
    raise RuntimeError(f"After {MAX_DIRECTORY_CREATION_ATTEMPTS} attempts no folder was free below {export_dir_base}")


def _as_bytes(path):
    return path.encode() if isinstance(path, str) else path


def get_temp_export_dir(timestamped_export_dir):
    """Where an export is written before it gets its name."""
    folder, name = os.path.split(_as_bytes(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


def _export_version_parser(path):
    """A folder with its version, where its name is one."""
    name = os.path.basename(path.path)
    name = name.decode() if isinstance(name, bytes) else name
    return path._replace(export_version=int(name)) if name.isdigit() and len(name) == 10 else None


def get_most_recent_export(export_dir_base):
    """The newest export, or None."""
    newest = gc.largest_export_versions(1)(gc.get_paths(export_dir_base, parser=_export_version_parser))
    return newest[0] if newest else None


def garbage_collect_exports(export_dir_base, exports_to_keep):
    """Delete exports but for the newest."""
    if exports_to_keep is None:
        return
    surplus = gc.negation(gc.largest_export_versions(exports_to_keep))
    for path in surplus(gc.get_paths(export_dir_base, parser=_export_version_parser)):
        gfile.DeleteRecursively(path.path)


# --- strategies


def _default_compare_fn(curr_best_eval_result, cand_eval_result):
    """Whether a result is better than the best so far: its loss is smaller."""
    for told, result in (("curr_best_eval_result", curr_best_eval_result), ("cand_eval_result", cand_eval_result)):
        if not result or MetricKey.LOSS not in result:
            raise ValueError(f"{told} has no loss to be compared")
    return curr_best_eval_result[MetricKey.LOSS] > cand_eval_result[MetricKey.LOSS]


class BestModelSelector:
    """Remembers the best result and the checkpoint that had it; earlier ones are read from event files."""

    def __init__(self, event_file_pattern=None, compare_fn=None):
        self._compare_fn = compare_fn or _default_compare_fn
        self._best_eval_result = self._get_best_eval_result(event_file_pattern)

    def update(self, checkpoint_path, eval_result):
        """(the checkpoint, its result) where it is the best so far, else (an empty path, None)."""
        best = self._best_eval_result
        if best is not None and not self._compare_fn(best, eval_result):
            return "", None
        self._best_eval_result = eval_result
        return checkpoint_path, eval_result

    def _get_best_eval_result(self, event_files):
        best = None
        for path in gfile.Glob(event_files) if event_files else ():
            for event in summary_iterator(path):
                values = {
                    value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")
                }
                if values and (best is None or self._compare_fn(best, values)):
                    best = values
        return best


def make_best_model_export_strategy(
    serving_input_fn,
    exports_to_keep=1,
    model_dir=None,
    event_file_pattern=None,
    compare_fn=None,
    default_output_alternative_key=None,
    strip_default_attrs=None,
):
    """A strategy that exports only models which are better than those before."""
    base = make_export_strategy(
        serving_input_fn,
        exports_to_keep=exports_to_keep,
        default_output_alternative_key=default_output_alternative_key,
        strip_default_attrs=strip_default_attrs,
    )
    pattern = os.path.join(model_dir, event_file_pattern) if model_dir and event_file_pattern else None
    selector = BestModelSelector(pattern, compare_fn)

    def export_fn(estimator, export_dir_base, checkpoint_path, eval_result=None):
        checkpoint_path = checkpoint_path or latest_checkpoint(estimator.model_dir)
        best, _ = selector.update(checkpoint_path, eval_result)
        if not best:
            return ""
        return base.export(estimator, export_dir_base, best, eval_result)

    return ExportStrategy("best_model", export_fn)


def extend_export_strategy(base_export_strategy, post_export_fn, post_export_name=None):
    """A strategy that hands what another exports to `post_export_fn(folder, new folder)`, which returns its path."""

    def export_fn(estimator, export_dir_base, checkpoint_path=None):
        now = int(time.time())
        raw, made = (os.path.join(export_dir_base, f"temp-{what}-export-{now}") for what in ("base", "post"))
        for folder in (raw, made):
            if gfile.Exists(folder):
                raise RuntimeError(f"The folder of an export that isn't ready is there already: {folder}")
            gfile.MakeDirs(folder)
        exported = base_export_strategy.export(estimator, raw, checkpoint_path)
        written = post_export_fn(exported, made)
        if not written.startswith(made):
            raise ValueError(f"What post_export_fn writes must be below {made}, not at {written}")
        final = os.path.join(export_dir_base, os.path.relpath(written, made))
        gfile.Rename(written, final)
        for folder in (raw, made):
            gfile.DeleteRecursively(folder)
        return final

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
