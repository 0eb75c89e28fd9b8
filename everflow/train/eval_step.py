"""Waiting for checkpoints as training writes them, and the count of evaluated batches."""

from __future__ import annotations

import time

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_default_graph
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import get_variable
from everflow.platform import logging
from everflow.train.checkpoint_manager import checkpoints_iterator  # noqa: F401  a name of contrib.training as well
from everflow.train.checkpoint_state import latest_checkpoint

_EVAL_STEP = "eval_step"


def get_or_create_eval_step():
    """The local variable that counts evaluated batches."""
    graph = get_default_graph()
    found = graph.get_collection(GraphKeys.EVAL_STEP)
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise ValueError("Multiple eval_step tensors.")
    collections = [GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP]
    zero = initializers.zeros_initializer()
    return get_variable(_EVAL_STEP, [], dtypes.int64, zero, trainable=False, collections=collections)


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The newest checkpoint of a folder once it is not `last_checkpoint`; None after `timeout` seconds."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = time.time() + timeout if timeout is not None else None
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)
