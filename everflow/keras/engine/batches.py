"""Where batches come from: arrays, tensors, datasets, generators. Each source gives the batches of an epoch."""

from __future__ import annotations

import inspect
import itertools
import random

from everflow.data import Dataset, make_initializable_iterator
from everflow.data.experimental import INFINITE_CARDINALITY, cardinality
from everflow.framework import nest
from everflow.framework.errors import OutOfRangeError
from everflow.framework.scopes import executing_eagerly
from everflow.keras import backend as K
from everflow.keras.engine import data_checks, workers
from everflow.keras.engine.array_batches import ArrayBatches, Batches
from everflow.keras.engine.batch_values import is_composite
from everflow.keras.engine.strategy_batches import spread, steps_of_arrays
from everflow.keras.utils.enqueuers import GeneratorEnqueuer, OrderedEnqueuer
from everflow.keras.utils.sequences import Sequence
from everflow.platform.signatures import takes


@takes(
    """model, x, y, sample_weight, batch_size=None, steps=None, steps_name="steps", shuffle=False, class_weight=None,
    queue=None, for_predict=False, is_validation=False, epochs=None, in_functions=False"""
)
def batches_of(model, x, y, sample_weight, in_functions, **asked):
    """The source for what `fit`, `evaluate` or `predict` was given."""
    x, y, sample_weight = (data_checks.read_variables(value) for value in (x, y, sample_weight))
    made = _source(model, x, y, sample_weight, in_functions=in_functions, **asked)
    made.in_functions = in_functions
    return made


def _source(model, x, y, sample_weight, batch_size, steps, steps_name, shuffle, is_validation, **more):
    class_weight, queue, for_predict = more["class_weight"], more["queue"], more["for_predict"]
    if isinstance(x, Dataset):
        _refuse_extras("dataset", x, y, sample_weight, None if is_validation else batch_size)
        # What is traced in functions never saw the weights of classes.
        class_weight = None if more["in_functions"] or not executing_eagerly() else class_weight
        return DatasetBatches(model, x, steps, steps_name, class_weight, for_predict, is_validation)
    if type(x).__name__ in ("Iterator", "IteratorV2", "EagerIterator") and hasattr(x, "get_next"):
        raise ValueError(f"Iterators can't be used as input of a model; pass the dataset itself. Received: {x}")
    if inspect.isgenerator(x) or _is_sequence(x) or (hasattr(x, "__next__") and not hasattr(x, "shape")):
        _refuse_extras("generator or `Sequence`", x, y, sample_weight, None if is_validation else batch_size)
        if not more["in_functions"] and not _is_sequence(x):
            _require_steps(steps, steps_name, "a generator, unlike a `keras.utils.Sequence`,")
        return GeneratorBatches(model, x, steps, steps_name, shuffle, class_weight, queue or {}, for_predict)
    if any(data_checks.is_symbolic(value) for value in nest.flatten([x, y]) if value is not None) or (
        x is None and not model._feed_inputs
    ):
        _require_steps(steps, steps_name, "tensors of the graph")
        return TensorBatches(model, x, y, sample_weight, steps, class_weight, for_predict)
    if x is None:
        _require_steps(steps, steps_name, "a model that is given no arrays")
    values = model._standardize(x, y, sample_weight=sample_weight, class_weight=class_weight, for_predict=for_predict)
    data_checks.check_batch_size(model, batch_size)
    if batch_size is None and steps is None:
        batch_size = data_checks.fixed_batch_size(model)
    if more["in_functions"] or not for_predict:
        _refuse_uneven(model, values[0], batch_size, steps)
    if model._distribution_strategy is not None and workers.worker() is None and values[0]:
        return spread(model, values, batch_size, steps, shuffle, steps_name, more["epochs"], for_predict)
    if more["in_functions"] and steps is not None and values[0]:
        return steps_of_arrays(model, values, batch_size, steps, shuffle, steps_name, is_validation, for_predict)
    return ArrayBatches(values, batch_size, steps, shuffle)


def _refuse_uneven(model, arrays, batch_size, steps):
    """ValueError where states that go on from batch to batch would meet one of another size."""
    size = batch_size or (32 if steps is None else None)
    samples = next((a.shape[0] for a in arrays if hasattr(a, "shape")), None)
    if model.stateful and size and samples and samples % size:
        raise ValueError(
            f"{model.name} keeps state from batch to batch, which all have to be of one size: {samples} samples can't be divided into "
            f"batches of {size}."
        )


def _is_sequence(x):
    return isinstance(x, Sequence)


def _refuse_extras(kind, x, y, sample_weight, batch_size):
    for name, value in (("y", y), ("sample_weight", sample_weight), ("batch_size", batch_size)):
        if value is not None:
            raise ValueError(
                f"`{name}` can't be given along with a {kind}, which has it itself. Received: {x}, {name}={value}"
            )


def _require_steps(steps, steps_name, source):
    if steps is None:
        raise ValueError(f"Nobody knows how many batches an epoch of {source} has: say it with `{steps_name}`.")


class TensorBatches(Batches):
    """Tensors of the graph, run anew for each step."""

    def __init__(self, model, x, y, sample_weight, steps, class_weight, for_predict):
        self.model, self.data, self.steps = model, (x, y, sample_weight), steps
        self.class_weight, self.for_predict = class_weight, for_predict
        if x is not None and model._waits_for_data():
            model._read_tensors(x, y)
            model._build_from_data(x)

    def epoch(self):
        for _ in range(self.steps):
            x, y, weight = self.data if self.model._reads_tensors else data_checks.run_tensors(self.data)
            values = self.model._standardize(
                x, y, sample_weight=weight, class_weight=self.class_weight, for_predict=self.for_predict
            )
            # Where steps are counted, each counts alike.
            yield values, 1


class DatasetBatches(Batches):
    """The elements of a `tf.data.Dataset`: (x, y), (x, y, weights), or x alone."""

    def __init__(self, model, dataset, steps, steps_name, class_weight, for_predict, is_validation):
        self.model, self.steps, self.steps_name, self.for_predict = model, steps, steps_name, for_predict
        self.class_weight = class_weight
        self.is_told_steps = steps is not None
        if steps is None:
            self._refuse_endless(dataset)
        # Training goes on where it stopped; validation always looks at the same elements.
        self._restarts = steps is None or is_validation
        self._dataset, self._running = dataset, None
        if not executing_eagerly():
            self._iterator = make_initializable_iterator(dataset)
            self._next = self._iterator.get_next()

    @property
    def is_blind(self):
        return self.in_functions or not executing_eagerly()

    def steps_ahead(self, kind):
        return None if self.in_functions and kind == "train" and not self.is_told_steps else self.steps

    def _refuse_endless(self, dataset):
        size = int(K.get_value(cardinality(dataset)))
        if size >= 0:
            self.steps = size
        elif size == INFINITE_CARDINALITY:
            _require_steps(None, self.steps_name, "an infinitely repeating dataset")

    def _elements(self):
        """The elements of an epoch: all of the dataset, or those that follow where the last epoch ended."""
        if self._restarts or self._running is None:
            self._running = iter(self._dataset) if executing_eagerly() else self._run_iterator()
        return self._running

    def _run_iterator(self):
        session = K.get_session()
        session.run(self._iterator.initializer)
        flat = nest.flatten(self._next)
        while True:
            try:
                yield nest.pack_sequence_as(self._next, session.run(flat))
            except OutOfRangeError:
                return

    def epoch(self):
        count = 0
        for element in self._elements():
            x, y, weight = _unpacked(element, self.for_predict)
            options = {"class_weight": self.class_weight, "for_predict": self.for_predict}
            values = self.model._standardize(x, y, sample_weight=weight, **options)
            # A session, or replicas that arrays are spread over, count whole steps; elsewhere the batch itself is seen.
            yield values, 1 if not executing_eagerly() or self.model._spreads_arrays else self._counted(values)
            count += 1
            if count == self.steps:
                return
        if self.steps is not None and count < self.steps:
            self._stop_short("dataset", count, "; `repeat()` makes a dataset go on")


def _unpacked(element, for_predict=False):
    """(x, y, weights) of an element of a data set."""
    if not isinstance(element, tuple) or is_composite(element):
        return element, None, None
    if for_predict:
        return element[0], None, None
    if len(element) > 3:
        raise ValueError(f"A batch is `x`, (x, y) or (x, y, sample_weight), not a tuple of {len(element)}: {element}")
    return (*element, None, None)[:3]


class GeneratorBatches(Batches):
    """What a generator or a `Sequence` gives."""

    def __init__(self, model, generator, steps, steps_name, shuffle, class_weight, queue, for_predict):
        self.model, self.class_weight, self.for_predict = model, class_weight, for_predict
        self.is_sequence = _is_sequence(generator)
        if steps is None and self.is_sequence:
            steps = len(generator)
        self.steps, self.steps_name = steps, steps_name
        self._items = (
            _pieces(generator, bool(shuffle), queue) if self.is_sequence else _from_generator(generator, queue)
        )

    def epoch(self):
        count = 0
        for item in itertools.islice(self._items, self.steps):
            if self.for_predict:
                if isinstance(item, tuple) and len(item) not in (1, 2, 3):
                    raise ValueError(f"A generator gives `x` to predict from, or a tuple that begins with it: {item}")
                x, y, weight = (item[0] if isinstance(item, tuple) else item), None, None
            else:
                if not isinstance(item, tuple) or len(item) not in (1, 2, 3):
                    raise ValueError(
                        f"Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: {item}"
                    )
                x, y, weight = (*item, None, None)[:3]
            values = self.model._standardize(
                x, y, sample_weight=weight, class_weight=self.class_weight, for_predict=self.for_predict
            )
            yield values, self._counted(values)
            count += 1
        if self.steps is not None and count < self.steps:
            self._stop_short("generator", count)


def _pieces(sequence, shuffle, queue):
    """The pieces of a Sequence, pass after pass."""
    if queue.get("workers", 1) > 1:
        enqueuer = OrderedEnqueuer(
            sequence, use_multiprocessing=queue.get("use_multiprocessing", False), shuffle=shuffle
        )
        yield from _queued(enqueuer, queue)
        return
    while True:
        order = list(range(len(sequence)))
        if shuffle:
            random.shuffle(order)
        for position, index in enumerate(order):
            piece = sequence[index]
            if position == len(order) - 1:
                sequence.on_epoch_end()
            yield piece


def _from_generator(generator, queue):
    if queue.get("workers", 1) > 1:
        return _queued(GeneratorEnqueuer(generator, use_multiprocessing=queue.get("use_multiprocessing", False)), queue)
    return generator


def _queued(enqueuer, queue):
    enqueuer.start(workers=queue["workers"], max_queue_size=queue.get("max_queue_size", 10))
    try:
        yield from enqueuer.get()
    finally:
        enqueuer.stop()
