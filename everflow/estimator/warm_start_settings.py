"""`WarmStartSettings`: which variables of a new estimator start with the values of another one's checkpoint."""

from __future__ import annotations

import collections

from everflow.platform import file_io
from everflow.platform.signatures import parameters, takes
from everflow.saved_model.constants import VARIABLES_DIRECTORY, VARIABLES_FILENAME
from everflow.saved_model.loader import contains_saved_model

_PARAMETERS = parameters(
    """ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None, var_name_to_prev_var_name=None"""
)


class WarmStartSettings(collections.namedtuple("WarmStartSettings", _PARAMETERS)):
    """A checkpoint, a regular expression (or list) of variables, and vocabularies and earlier names where they changed.

    Args:
        ckpt_to_initialize_from: A checkpoint, or a folder.
        vars_to_warm_start: A regular expression (trainable variables), a list of them (global ones) or of variables, or
            None for only those with a vocabulary.
        var_name_to_vocab_info: `tf.estimator.VocabInfo` by variables' names.
        var_name_to_prev_var_name: The names in the checkpoint, by variables' names, where they differ.

    Example:
        >>> tf.estimator.WarmStartSettings("model").vars_to_warm_start
        '.*'
    """

    @takes(_PARAMETERS)
    def __new__(cls, ckpt_to_initialize_from, vars_to_warm_start, **changed):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        changed = {name: given or {} for name, given in changed.items()}
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, **changed)


def as_warm_start_settings(warm_start_from):
    """Settings of what `warm_start_from` may be: settings, a checkpoint, the folder of a model or of a SavedModel."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(
            f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}"
        )
    folder = warm_start_from.decode() if isinstance(warm_start_from, bytes) else warm_start_from
    if file_io.is_directory(folder) and contains_saved_model(folder):
        folder = f"{folder}/{VARIABLES_DIRECTORY}/{VARIABLES_FILENAME}"
    return WarmStartSettings(ckpt_to_initialize_from=folder)
