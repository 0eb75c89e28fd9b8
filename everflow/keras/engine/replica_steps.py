"""Training, testing and predicting on a batch where a strategy has several replicas: each takes its share of the rows.

Replicas call the model in a traced function, whether operations run at once or a session runs them; losses are parts of
one mean, gradients are summed by the optimizer, and metrics are read over all replicas.
"""

from __future__ import annotations

import numpy as np

from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.values import regroup
from everflow.framework import nest
from everflow.framework.scopes import executing_eagerly, executing_eagerly_outside_functions, name_scope
from everflow.keras import backend as K
from everflow.keras.engine.eager_steps import EagerSteps
from everflow.keras.engine.layer_losses import as_before
from everflow.ops import array


class ReplicaSteps(EagerSteps):
    """The functions of a model that was compiled in the scope of a strategy with several replicas."""

    def __init__(self, model):
        super().__init__(model)
        self._strategy = model._distribution_strategy
        self._of_session = {}  # functions of a graph, by kind and by which weights are given

    def run(self, kind, inputs, targets, weights):
        """[loss, metrics…] of a batch, or the outputs for "predict", as arrays."""
        weights = weights if any(w is not None for w in weights) else []
        parts = shares((inputs, targets, weights), self._strategy.num_replicas_in_sync)
        run = self._run_at_once if executing_eagerly() else self._run_in_session
        with self._strategy.scope():  # in which variables of the optimizer are made, outside of the traced function
            return run(kind, parts)

    def _run_at_once(self, kind, parts):
        tensors = [self._as_tensors(*part) for part in parts]
        with K.eager_learning_phase_scope(self._phase(kind)):
            outputs = self._function(kind)(tensors)
        return [x.numpy() for x in outputs]

    def _run_in_session(self, kind, parts):
        given = tuple(w is not None for w in parts[0][2])
        if (kind, given) not in self._of_session:
            self._of_session[kind, given] = self._drawn(kind, parts)
        phase = self.model._phase() if kind == "train" else []
        feeds = [value for value in nest.flatten(parts) if value is not None]
        return list(self._of_session[kind, given]([*feeds, *(True for _ in phase)]))

    def _drawn(self, kind, parts):
        """A function of the session, which is fed each replica's share."""
        model = self.model
        fed = [*model._feed_inputs, *(e.target for e in self._fed())]
        with name_scope(f"{kind}_replicas"):
            drawn = [self._placeholders(fed, part) for part in parts]
            with as_before(model):
                outputs = self._function(kind)(drawn)
            phase = model._phase() if kind == "train" else []
            inputs = [x for x in nest.flatten(drawn) if x is not None]
            return K.function([*inputs, *phase], list(outputs), name=f"{kind}_function", **model._function_kwargs)

    @staticmethod
    def _placeholders(fed, part):
        """Placeholders for the share of a replica: rows of what is fed, and weights where they are given."""
        like = iter(fed)
        inputs, targets = (
            [K.placeholder((None, *array.shape[1:]), dtype=K.dtype(next(like))) for array in arrays]
            for arrays in part[:2]
        )
        weights = [None if w is None else K.placeholder(ndim=np.ndim(w)) for w in part[2]]
        return inputs, targets, weights

    def _makes_gradients(self):
        """A session trains with gradients as the optimizer makes them: clipped or scaled where it does that."""
        return hasattr(self.model.optimizer, "get_gradients") and not executing_eagerly_outside_functions()

    def _scales_losses(self):
        return super()._scales_losses() and not self._makes_gradients()

    def _gradients(self, tape, loss, trained):
        if self._makes_gradients():
            return self.model.optimizer.get_gradients(loss, trained)
        return super()._gradients(tape, loss, trained)

    def _step(self, kind):
        of_replica = super()._step(kind)

        def of_all(parts):
            with self._strategy.scope():
                outputs = self._strategy.extended.call_for_each_replica(
                    of_replica, args=regroup(self._strategy.extended._device_map, parts)
                )
                if kind == "predict":
                    return [_joined(self._strategy.experimental_local_results(output)) for output in outputs]
                total = self._strategy.reduce(ReduceOp.SUM, outputs[0])
                return [total, *(metric.result() for metric in self.model._reported())]

        return of_all


def shares(values, count):
    """The shares of replicas in a batch, lists of arrays: rows one after the other, none for the last ones if it is small."""
    return [[[_rows(value, count, index) for value in arrays] for arrays in values] for index in range(count)]


def _rows(value, count, index):
    if value is None:
        return None
    size = -(-int(value.shape[0]) // count)
    return value[index * size : (index + 1) * size]


def _joined(parts):
    return array.concat(parts, 0) if parts[0].shape.rank else array.stack(parts)
