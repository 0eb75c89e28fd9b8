"""What can be asked of trained trees: which features mattered, and what each did to a prediction."""

from __future__ import annotations

import collections

import numpy as np

from everflow.protos import boosted_trees_pb2 as pb
from everflow.train.checkpoint_reader import load_checkpoint


class Explained:
    """The part of an estimator of trees that explains it."""

    DEBUG_KEY = "__serialized_debug_proto"

    def __init__(self, feature_names, center_bias, gives_probabilities):
        self._feature_names, self._center_bias, self._gives_probabilities = (
            feature_names,
            center_bias,
            gives_probabilities,
        )
        self._explains = False

    def experimental_feature_importances(self, normalize=False):
        """{feature: the gain of all splits on it}, highest first; with `normalize` they add up to one."""
        reader = load_checkpoint(self.model_dir)
        ensemble = pb.TreeEnsemble.FromString(reader.get_tensor("boosted_trees:0_serialized"))
        gains = dict.fromkeys(self._feature_names, 0.0)
        for tree in ensemble.trees:
            for node in tree.nodes:
                kind = node.WhichOneof("node")
                if kind not in (None, "leaf"):
                    gains[self._feature_names[getattr(node, kind).feature_id]] += node.metadata.gain
        if normalize:
            total = sum(gains.values())
            if not total:
                raise AssertionError("Trees are all empty or contain only a root node.")
            gains = {name: gain / total for name, gain in gains.items()}
        return collections.OrderedDict(sorted(gains.items(), key=lambda item: item[1], reverse=True))

    def experimental_predict_with_explanations(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None):
        """Predictions with `bias` and `dfc`: what each feature added to the prediction (or probability).

        The model has to be trained with `center_bias=True`: contributions are seen against the bias.
        """
        if not self._center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using experimental_predict_with_explanations."
            )
        keys = None
        if predict_keys is not None:
            keys = [predict_keys] if isinstance(predict_keys, str) else list(predict_keys)
            keys.append(self.DEBUG_KEY)
        self._explains = True
        try:
            predictions = self.predict(
                input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path, yield_single_examples=True
            )
            for prediction in predictions:
                bias, contributions = self._contributions(prediction.pop(self.DEBUG_KEY))
                yield {**prediction, "bias": bias, "dfc": contributions}
        finally:
            self._explains = False

    def _contributions(self, serialized):
        """(bias, {feature: contribution}, biggest first) of an example's way through the trees."""
        path = pb.DebugOutput.FromString(serialized)
        values = np.asarray(path.logits_path, np.float64)
        if self._gives_probabilities:
            values = 1.0 / (1.0 + np.exp(-values))
        found = dict.fromkeys(self._feature_names, 0.0)
        for feature, change in zip(path.feature_ids, np.diff(values)):
            found[self._feature_names[feature]] += change
        ordered = sorted(found.items(), key=lambda item: abs(item[1]), reverse=True)
        return values[0], collections.OrderedDict(ordered)
