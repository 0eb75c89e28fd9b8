"""Exports of one mode or several, under the names they had in contrib."""

from __future__ import annotations

from everflow.estimator.export.receivers import build_raw_supervised_input_receiver_fn
from everflow.estimator.input_functions import parse_input_fn_result
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework.graph import Graph


def export_saved_model_for_mode(
    estimator,
    export_dir_base,
    input_receiver_fn,
    assets_extra=None,
    as_text=False,
    checkpoint_path=None,
    mode=ModeKeys.PREDICT,
):
    """`Estimator.export_saved_model` for a mode."""
    how = assets_extra, as_text, checkpoint_path
    return estimator.export_saved_model(export_dir_base, input_receiver_fn, *how, experimental_mode=mode)


def export_all_saved_models(
    estimator, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, checkpoint_path=None
):
    """`Estimator.experimental_export_all_saved_models`."""
    how = assets_extra, as_text, checkpoint_path
    return estimator.experimental_export_all_saved_models(export_dir_base, input_receiver_fn_map, *how)


def build_supervised_input_receiver_fn_from_input_fn(input_fn, **input_fn_args):
    """A receiver function whose placeholders are like what an input function gives."""
    # The input is drawn aside: only its types and shapes are wanted.
    with Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
