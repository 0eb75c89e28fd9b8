"""The loops of `fit`, `evaluate` and `predict` over batches, with the callbacks that are called on the way."""

from __future__ import annotations

import itertools

import numpy as np

from everflow.framework.scopes import executing_eagerly
from everflow.keras.callbacks import configure, make_logs, tell_names
from everflow.keras.engine.batch_values import joined
from everflow.keras.engine.batches import GeneratorBatches


class _Means:
    """The loss averaged over an epoch; metrics keep their own state, so that the last value counts."""

    def __init__(self, by_samples):
        self.by_samples = by_samples
        self.loss, self.weight, self.last = 0.0, 0, []

    def add(self, outputs, size):
        weight = int(size) if self.by_samples else 1
        loss = outputs[0] if np.ndim(outputs[0]) else np.float64(outputs[0])
        self.loss = self.loss + loss * weight
        self.weight += weight
        self.last = outputs[1:]

    def results(self):
        return [self.loss / self.weight, *self.last]


def _configured(callbacks, model, mode, source, verbose, do_validation=False, epochs=1):
    """The callbacks of a loop, told how much is to come: samples where they are counted, else steps."""
    by_samples = source.counts_samples
    # Where no traced functions run, what is asked for as steps is told as samples, too.
    amount = {"steps": source.number_of_batches, "samples": source.samples}
    if not by_samples:
        samples = source.steps if source.is_told_steps or not source.in_functions else None
        amount = {"steps": source.steps_ahead(mode), "samples": samples}
    elif source.in_functions and mode != "train":
        amount["samples"] = True  # As in TensorFlow, which says so much and no more: bars end as "10000/1".
    amount["count_mode"] = "samples" if by_samples else "steps"
    amount |= {"batch_size": source.batch_size, "epochs": epochs}
    return configure(callbacks, model, mode=mode, do_validation=do_validation, verbose=verbose, **amount)


def _batches(model, source, calls, kind):
    """(outputs, size) of each batch of an epoch, between its callbacks; training ends where one says so."""
    waits = not model.outputs
    begin, batches = getattr(calls, f"on_{kind}_batch_begin"), source.epoch()
    for index in itertools.count():
        logs = {"batch": index, "size": 1}
        # Where batches are taken blindly, a step begins before it is known whether there is something left for it.
        if source.is_blind:
            if index == source.steps_ahead(kind):
                break
            begin(index, logs)
        values, size = next(batches, (None, None))
        if values is None:
            break
        logs["size"] = size
        if waits and index == 0 and calls.params:
            tell_names(calls, model, kind)
        if not source.is_blind:
            begin(index, logs)
        outputs = model._run_function(kind, values)
        yield outputs, size
        make_logs(model, logs, outputs, kind)
        getattr(calls, f"on_{kind}_batch_end")(index, logs)
        if kind == "train" and model.stop_training:
            return


def fit(model, source, validation, epochs, initial_epoch, verbose, callbacks, validation_freq):
    """Train for the epochs from `initial_epoch` to `epochs`; the History."""
    calls = _configured(callbacks, model, "train", source, verbose, validation is not None, epochs)
    if verbose:
        _announce(model, source, validation)
    model._prepare("train")
    model.stop_training = False
    calls.on_train_begin()
    results = None
    for epoch in range(initial_epoch, epochs):
        model.reset_metrics()
        calls.on_epoch_begin(epoch)
        means = _Means(source.counts_samples)
        for outputs, size in _batches(model, source, calls, "train"):
            means.add(outputs, size)
        if not means.weight and model._experimental_run_tf_function:
            calls.on_epoch_end(epoch, {})
            calls.on_train_end()
            raise ValueError(
                "There is no data to train on: a dataset that is to last for more epochs needs `repeat()`."
            )
        if not means.weight and results is None:
            break
        if source.steps is None and not source.counts_samples:
            source.steps = means.weight  # Now it is known how many there are.
        if calls.params["steps"] is None and not source.counts_samples:
            calls.params["steps"] = means.weight
        # An epoch for which nothing was left is reported by what the last one came to, once more over its steps.
        results = means.results() if means.weight else [results[0] / source.steps, *results[1:]]
        logs = make_logs(model, {}, results, "train")
        if validation is not None and _is_validated(validation_freq, epoch) and not model.stop_training:
            make_logs(model, logs, _test(model, validation, calls), "test", prefix="val_")
        calls.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    calls.on_train_end()
    return model.history


def _announce(model, source, validation):
    """Say how much there is to train on, where it is known; a graph that is run step by step says nothing of steps."""
    in_functions = model._experimental_run_tf_function
    if isinstance(source, GeneratorBatches) and not source.in_functions:
        return
    if not source.counts_samples and (not source.is_told_steps if in_functions else executing_eagerly()):
        return

    def amount(verb, of):
        if of.counts_samples:
            return f"{verb} on {of.samples} samples"
        return f"{verb} {'for' if in_functions else 'on'} {of.steps} steps"

    text = amount("Train", source)
    if validation is not None and (validation.samples or validation.steps) is not None:
        text += ", " + amount("validate", validation)
    print(text)


def _is_validated(frequency, epoch):
    """Whether to validate after this epoch, counted from 0."""
    number = epoch + 1
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return number % frequency == 0
    if not hasattr(frequency, "__contains__"):
        raise ValueError(f"`validation_freq` is a number of epochs, or a list of some: {frequency!r}")
    return number in frequency


def _test(model, source, calls):
    model._prepare("test")
    model.reset_metrics()
    calls.on_test_begin()
    in_parts = source.in_functions and source.samples is not None and source.steps is not None
    means = _Means(source.counts_samples or in_parts)
    for outputs, size in _batches(model, source, calls, "test"):
        means.add(outputs, size)
    calls.on_test_end()
    if not means.weight:
        raise ValueError("There is no data to evaluate the model on.")
    # As in TensorFlow, steps that were asked for and did not come count, and so do samples beyond the steps.
    if in_parts:
        means.weight = source.samples
    elif source.steps is not None and not source.counts_samples:
        means.weight = source.steps
    return means.results()


def evaluate(model, source, verbose, callbacks):
    """The loss and metrics over a data set."""
    calls = _configured(callbacks, model, "test", source, verbose)
    results = _test(model, source, calls)
    return results[0] if len(results) == 1 else results


def predict(model, source, verbose, callbacks):
    """The outputs for a data set."""
    calls = _configured(callbacks, model, "predict", source, verbose)
    model._prepare("predict")
    if model.built:  # the metrics of a model that gets its layers' shapes from the data don't exist yet
        model.reset_metrics()
    calls.on_predict_begin()
    collected = None
    for outputs, _ in _batches(model, source, calls, "predict"):
        collected = [[] for _ in outputs] if collected is None else collected
        for parts, output in zip(collected, outputs):
            parts.append(output)
    calls.on_predict_end()
    if collected is None:
        raise ValueError("There is no data to predict from.")
    results = [joined(parts) for parts in collected]
    return results[0] if len(results) == 1 else results
