"""`tf.keras.Model`: a network that can be trained. compiling.py has what is compiled, training_loop.py the loops."""

from __future__ import annotations

import numpy as np

from everflow.data import Dataset, Iterator
from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly
from everflow.keras.engine import data_checks, training_loop
from everflow.keras.engine.batches import batches_of
from everflow.keras.engine.compiling import Compiling
from everflow.keras.engine.inner_names import InnerNames
from everflow.keras.engine.network import Network
from everflow.platform.signatures import takes

_QUEUE = "max_queue_size=10, workers=1, use_multiprocessing=False"
_FIT = f"""y=None, batch_size=None, epochs=1, verbose=1, callbacks=None, validation_split=0.0,
    validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
    steps_per_epoch=None, validation_steps=None, validation_freq=1, {_QUEUE}, **kwargs"""


def _queue(given):
    """The settings of a queue, taken out of arguments."""
    return {name: given.pop(name) for name in ("max_queue_size", "workers", "use_multiprocessing")}


class Model(Compiling, InnerNames, Network):
    """Layers from inputs to outputs, with training and evaluation.

    Args:
        *args: The inputs and outputs.
        **kwargs: `inputs`, `outputs` and `name`.

    Example:
        >>> x = tf.keras.Input([4])
        >>> model = tf.keras.Model(x, tf.keras.layers.Dense(1)(x))
        >>> model.compile("sgd", "mse")
        >>> history = model.fit(np.ones([8, 4]), np.ones([8, 1]), epochs=2, verbose=0)
        >>> model.predict(np.ones([2, 4])).shape
        (2, 1)
    """

    _object_identifier = "_tf_keras_model"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._forget_compilation()

    # --- whole data sets -----------------------------------------------------------------------

    @takes(f"x=None, {_FIT}")
    def fit(self, x, **given):
        """Train for some epochs, and return a History.

        `x` and `y` are arrays (or lists or dicts of them), tensors, a `tf.data.Dataset` of (x, y), a generator, or a
        `Sequence`.
        """
        return self._fit(x, self._experimental_run_tf_function, **given)

    @takes(_FIT)
    def _fit(self, x, in_functions, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight, **more):
        """`in_functions`: whether batches are taken as functions that are traced take them."""
        looped = {name: more.pop(name) for name in ("initial_epoch", "verbose", "callbacks", "validation_freq")}
        validated = [more.pop(f"validation_{name}") for name in ("split", "data", "steps")]
        queue = _queue(more)
        epochs = more.pop("epochs")
        epochs = more.pop("nb_epoch", epochs)
        if more:
            raise TypeError(f"Unrecognized keyword arguments: {more}")
        self._assert_compiled()
        if self._spreads_arrays and class_weight:
            raise NotImplementedError("`class_weight` can't be given where a strategy spreads arrays over replicas.")
        if self._spreads_arrays and validated[0]:
            raise ValueError("`validation_split` can't be given where a strategy spreads arrays over replicas.")
        if in_functions and validated[0] and validated[1]:
            raise ValueError(
                "`validation_split` and `validation_data` can't both be given: which is to be validated with?"
            )
        shared = {"batch_size": batch_size, "class_weight": class_weight, "queue": queue, "in_functions": in_functions}
        steps = {"steps": steps_per_epoch, "steps_name": "steps_per_epoch"}
        source = batches_of(self, x, y, sample_weight, **steps, shuffle=shuffle, epochs=epochs, **shared)
        validation = self._validation_source(source, *validated, **shared)
        return training_loop.fit(self, source, validation, epochs=epochs, **looped)

    def _validation_source(self, source, split, data, steps, batch_size, class_weight, **shared):
        if data is not None:
            if isinstance(data, (list, tuple)):
                if len(data) not in (2, 3):
                    raise ValueError(
                        f"`validation_data` is (x, y), (x, y, sample_weight) or a dataset, not a tuple of {len(data)}: {str(data)[:200]}"
                    )
                x, y, weights = (*data, None)[:3]
            else:
                x, y, weights = data, None, None
            # As in TensorFlow, classes count in validation as in training where both are done by functions.
            class_weight = class_weight if shared["in_functions"] else None
            shared |= {"batch_size": batch_size or source.batch_size, "class_weight": class_weight}
            steps = {"steps": steps, "steps_name": "validation_steps"}
            made = batches_of(self, x, y, weights, **steps, **shared, is_validation=True)
            return made.as_validation_of(source, batch_size)
        if split and 0.0 < split < 1.0:
            return source.split_off(split)
        if steps:
            raise ValueError("`validation_steps` should not be specified without `validation_data`.")
        return None

    @takes(f"x=None, y=None, batch_size=None, verbose=1, sample_weight=None, steps=None, callbacks=None, {_QUEUE}")
    def evaluate(self, x, y, batch_size, verbose, sample_weight, steps, callbacks, **queue):
        """The loss and metrics over a data set: a number, or a list in the order of `metrics_names`."""
        return self._evaluate(x, y, batch_size, verbose, sample_weight, steps, callbacks, queue)

    def _evaluate(self, x, y, batch_size, verbose, sample_weight, steps, callbacks, queue, in_functions=None):
        self._assert_compiled()
        in_functions = self._experimental_run_tf_function if in_functions is None else in_functions
        shared = {"queue": queue, "in_functions": in_functions}
        source = batches_of(self, x, y, sample_weight, batch_size=batch_size, steps=steps, **shared)
        return training_loop.evaluate(self, source, verbose=verbose, callbacks=callbacks)

    @takes(f"x, batch_size=None, verbose=0, steps=None, callbacks=None, {_QUEUE}")
    def predict(self, x, batch_size, verbose, steps, callbacks, **queue):
        """The outputs for a data set, as arrays."""
        return self._predict(x, batch_size, verbose, steps, callbacks, queue)

    def _predict(self, x, batch_size, verbose, steps, callbacks, queue, in_functions=None):
        in_functions = self._experimental_run_tf_function if in_functions is None else in_functions
        shared = {"queue": queue, "in_functions": in_functions, "for_predict": True}
        source = batches_of(self, x, None, None, batch_size=batch_size, steps=steps, **shared)
        return training_loop.predict(self, source, verbose=verbose, callbacks=callbacks)

    # --- weights -------------------------------------------------------------------------------

    def get_weights(self):
        """The values of its variables, in the order of `weights`; over all replicas where a strategy has several."""
        with self._distribution_scope():
            return super().get_weights()

    def set_weights(self, weights):
        """Give its variables values, in the order of `weights`, on all replicas."""
        with self._distribution_scope():
            super().set_weights(weights)

    # --- one batch -----------------------------------------------------------------------------

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True):
        """One step of training; returns the loss, or the loss and metrics."""
        return self._on_batch("train", reset_metrics, x, y, sample_weight=sample_weight, class_weight=class_weight)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True):
        """The loss, or the loss and metrics, of one batch."""
        return self._on_batch("test", reset_metrics, x, y, sample_weight=sample_weight)

    def _on_batch(self, kind, reset_metrics, x, y, **weights):
        self._assert_compiled()
        self._refuse_spread(f"{kind}_on_batch")
        outputs = self._run_function(kind, self._batch_of(x, y, **weights))
        if reset_metrics:
            self.reset_metrics()
        return _one_or_all(outputs)

    def _batch_of(self, x, y, sample_weight=None, **options):
        """What a function is run on: the arrays given, the first element of a dataset, or the next one of a graph's iterator."""
        if isinstance(x, Iterator):
            element = x.get_next()
            x, y, sample_weight = (*(element if isinstance(element, tuple) else (element,)), None, None)[:3]
        if not isinstance(x, Dataset):
            return self._standardize(x, y, sample_weight=sample_weight, **options)
        source = batches_of(
            self, x, y, sample_weight, steps=1, in_functions=self._experimental_run_tf_function, **options
        )
        for values, _ in source.epoch():
            return values
        raise ValueError(f"There is no batch in {x}.")

    def predict_on_batch(self, x):
        """The outputs for one batch."""
        self._refuse_spread("predict_on_batch")
        values = self._batch_of(x, None, for_predict=True)
        outputs = self._run_function("predict", values)
        if self._experimental_run_tf_function:
            outputs = [convert_to_tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in outputs]
        return _one_or_all(outputs)

    # --- generators ----------------------------------------------------------------------------

    @takes(
        f"""generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
        validation_steps=None, validation_freq=1, class_weight=None, {_QUEUE}, shuffle=True, initial_epoch=0""",
    )
    def fit_generator(self, generator, **options):
        """Train on what a generator or a `Sequence` gives: (x, y) or (x, y, weights)."""
        self._refuse_strategy("fit_generator", "fit")
        return self._fit(generator, False, **options)

    @takes(f"generator, steps=None, callbacks=None, {_QUEUE}, verbose=0")
    def evaluate_generator(self, generator, steps, callbacks, verbose, **queue):
        """The loss and metrics over what a generator or a `Sequence` gives."""
        self._refuse_strategy("evaluate_generator", "evaluate")
        return self._evaluate(generator, None, None, verbose, None, steps, callbacks, queue, in_functions=False)

    @takes(f"generator, steps=None, callbacks=None, {_QUEUE}, verbose=0")
    def predict_generator(self, generator, steps, callbacks, verbose, **queue):
        """The outputs for what a generator or a `Sequence` gives."""
        self._refuse_strategy("predict_generator", "predict")
        return self._predict(generator, None, verbose, steps, callbacks, queue, in_functions=False)

    def _refuse_strategy(self, method, other):
        if self._distribution_strategy is not None:
            raise NotImplementedError(f"`{method}` knows no strategies: `{other}` takes generators, too.")

    def _refuse_spread(self, method):
        """NotImplementedError where a strategy spreads arrays before they come to steps: one batch can't be."""
        if self._spreads_arrays and not executing_eagerly():
            raise NotImplementedError(
                f"`{method}` is not supported for models that a tf.distribute.Strategy spreads over replicas."
            )

    # --- data ----------------------------------------------------------------------------------

    def _standardize(self, x, y=None, sample_weight=None, class_weight=None, for_predict=False):
        """(inputs, targets, weights) as lists of arrays; a model that waited for data to know its inputs is built now."""
        x, y, sample_weight = (data_checks.read_variables(value) for value in (x, y, sample_weight))
        if any(map(data_checks.is_symbolic, nest.flatten((x, y, sample_weight)))):
            if self._waits_for_data():
                self._read_tensors(x, y)
            if self._reads_tensors:
                x, y, sample_weight = (_unless_tensors(value) for value in (x, y, sample_weight))
            elif self._waits_for_data():
                x, y, sample_weight = data_checks.run_tensors((x, y, sample_weight))
        self._build_from_data(x)
        # What is called on each batch finds out itself what doesn't fit.
        has_fixed_shapes = self._is_graph_network and not (self._is_compiled and self.run_eagerly)
        shapes = self._feed_input_shapes if has_fixed_shapes else [None] * len(self._feed_input_shapes)
        inputs = data_checks.standardize(
            x, self._feed_input_names, shapes, check_batch_axis=False, exception_prefix="input"
        )
        if for_predict or not self._is_compiled:
            return inputs, [], []
        endpoints = [e for e in self._endpoints if e.is_fed]
        names = [e.name for e in endpoints]
        if executing_eagerly():
            y = data_checks.targets_given_before(y, endpoints)
        targets = data_checks.standardize(
            y, names, [None] * len(names), check_batch_axis=False, exception_prefix="target"
        )
        weights = []
        all_weights = data_checks.sample_weights_by_output(sample_weight, names)
        all_class_weights = data_checks.class_weights_by_output(class_weight, names)
        for target, weight, of_classes, endpoint in zip(targets, all_weights, all_class_weights, endpoints):
            weights.append(data_checks.standardize_weights(target, weight, of_classes, endpoint.sample_weight_mode))
        data_checks.check_lengths(inputs, targets, weights)
        if has_fixed_shapes:
            data_checks.check_targets(targets, endpoints)
        self._use_sample_weights([w is not None for w in weights])
        return inputs, targets, weights


def _unless_tensors(data):
    """Data but for a graph's tensors, which the model reads by itself."""
    return None if any(map(data_checks.is_symbolic, nest.flatten(data))) else data


def _one_or_all(outputs):
    return outputs[0] if len(outputs) == 1 else outputs
