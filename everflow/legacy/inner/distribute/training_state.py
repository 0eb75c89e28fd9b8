"""Functions of `tensorflow.python.keras.distribute.multi_worker_training_state`: is there a checkpoint?"""

from __future__ import annotations

from everflow.platform import file_io


def checkpoint_exists(filepath: str) -> bool:
    """Whether there is a model or a checkpoint at a path."""
    return file_io.file_exists(filepath) or file_io.file_exists(filepath + ".index")


def remove_checkpoint_if_exists(ckpt_dir: str, filepath: str) -> bool:
    """Remove the folder that a checkpoint is in, if it is there; whether it was."""
    found = checkpoint_exists(filepath)
    if found:
        file_io.delete_recursively(ckpt_dir)
    return found
