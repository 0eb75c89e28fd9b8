"""Looking into checkpoints, and starting variables from them, by the names before they were in tf.train."""

from __future__ import annotations

from everflow import train
from everflow.train.checkpoint_reader import list_variables as _list_variables
from everflow.train.checkpoint_reader import load_checkpoint as _load_checkpoint
from everflow.train.checkpoint_reader import load_variable as _load_variable


def load_checkpoint(filepattern):
    """A reader of a checkpoint, or of the newest one in a folder."""
    return _load_checkpoint(filepattern)


def load_variable(checkpoint_dir, name):
    """The value of one variable in a checkpoint."""
    return _load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir):
    """[(name, shape)] of a checkpoint, sorted."""
    return _list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir, assignment_map):
    """Let variables start with what a checkpoint holds; see `tf.train.init_from_checkpoint`."""
    return train.init_from_checkpoint(checkpoint_dir, assignment_map)
