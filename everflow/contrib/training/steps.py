"""Training ops (gradients with clipping, scaling and summaries, the update, the loss) and a loop over them."""

from __future__ import annotations

from everflow.framework.composites import IndexedSlices
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, control_dependencies, get_collection, name_scope
from everflow.ops.array.constants import constant
from everflow.ops.checks.values import check_numerics as check
from everflow.ops.control_flow.grouping import no_op, with_dependencies
from everflow.ops.io import summaries as summary
from everflow.ops.math import clip
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.ops.variables.variable import trainable_variables
from everflow.platform import logging
from everflow.train import MonitoredTrainingSession
from everflow.train.optimizer import Optimizer

_USE_GLOBAL_STEP = 0


def _values(gradient):
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _with_values(gradient, values):
    is_sparse = isinstance(gradient, IndexedSlices)
    return IndexedSlices(values, gradient.indices, gradient.dense_shape) if is_sparse else values


def add_gradients_summaries(grads_and_vars):
    """Summaries of gradients and of their norms."""
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            logging.info("Var %s has no gradient", variable.op.name)
            continue
        values = _values(gradient)
        made.append(summary.histogram(variable.op.name + "_gradient", values))
        made.append(summary.scalar(variable.op.name + "_gradient_norm", clip.global_norm([values])))
    return made


def clip_gradient_norms(gradients_to_variables, max_norm):
    """Each gradient scaled down to this norm at most."""
    return [
        (None if gradient is None else _with_values(gradient, clip.clip_by_norm(_values(gradient), max_norm)), variable)
        for gradient, variable in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm):
    """`clip_gradient_norms` with this norm, for `transform_grads_fn`."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """Gradients scaled by the factors given for their variables, or for the names of their ops."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    scaled = []
    for gradient, variable in grads_and_vars:
        if variable in gradient_multipliers or variable.op.name in gradient_multipliers:
            key = variable if variable in gradient_multipliers else variable.op.name
            if gradient is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = constant(gradient_multipliers[key], dtype=_values(gradient).dtype)
            gradient = _with_values(gradient, _values(gradient) * factor)
        scaled.append((gradient, variable))
    return scaled


def create_train_op(
    total_loss,
    optimizer,
    global_step=_USE_GLOBAL_STEP,
    update_ops=None,
    variables_to_train=None,
    transform_grads_fn=None,
    summarize_gradients=False,
    gate_gradients=Optimizer.GATE_OP,
    aggregation_method=None,
    colocate_gradients_with_ops=False,
    check_numerics=True,
):
    """A tensor of the loss which, when run, takes one training step, after the updates in UPDATE_OPS.

    >>> train_op = tf.contrib.training.create_train_op(total_loss, tf.train.AdamOptimizer(0.001))
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    collected = set(get_collection(GraphKeys.UPDATE_OPS))
    update_ops = collected if update_ops is None else set(update_ops)
    if not collected.issubset(update_ops):
        logging.warning("The given update_ops leave out some of UPDATE_OPS, which will not run")
    if update_ops:
        with control_dependencies(list(update_ops)):
            barrier = no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = trainable_variables()
    else:
        known = set(map(id, trainable_variables()))
        for variable in variables_to_train:
            if id(variable) not in known:
                raise AssertionError
    if not variables_to_train:
        raise AssertionError
    settings = {"gate_gradients": gate_gradients, "aggregation_method": aggregation_method}
    settings["colocate_gradients_with_ops"] = colocate_gradients_with_ops
    gradients = optimizer.compute_gradients(total_loss, variables_to_train, **settings)
    if transform_grads_fn:
        gradients = transform_grads_fn(gradients)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(gradients)
    update = optimizer.apply_gradients(gradients, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = check(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([update], total_loss)
    train_ops = get_collection(GraphKeys.TRAIN_OP)
    if not any(op is train_op for op in train_ops):
        add_to_collection(GraphKeys.TRAIN_OP, train_op)
    return train_op


def train(
    train_op,
    logdir,
    master="",
    is_chief=True,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=600,
    save_summaries_steps=100,
    config=None,
    max_wait_secs=7200,
    run_metadata=None,
):
    """Run the training op in a MonitoredTrainingSession until a hook stops it; returns the last loss."""
    for name, given in (("save_summaries_steps", save_summaries_steps), ("save_checkpoint_secs", save_checkpoint_secs)):
        if given and is_chief and logdir is None:
            raise ValueError(f"logdir cannot be None with {name}={given}, which writes into it")
    loss = None
    watching = {"hooks": hooks, "chief_only_hooks": chief_only_hooks, "max_wait_secs": max_wait_secs}
    saving = {"save_checkpoint_secs": save_checkpoint_secs, "save_summaries_steps": save_summaries_steps}
    with MonitoredTrainingSession(master, is_chief, logdir, scaffold, config=config, **watching, **saving) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
