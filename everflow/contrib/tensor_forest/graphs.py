"""The graphs that train forests and predict with them."""

from __future__ import annotations

from everflow.contrib.framework import VariableDeviceChooser
from everflow.contrib.tensor_forest import data_ops
from everflow.contrib.tensor_forest.hparams import build_params_proto
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, device, get_collection
from everflow.ops import array, math
from everflow.ops.array.indexing import where
from everflow.ops.control_flow.grouping import group
from everflow.ops.forests import fertile_stats_variable, tree_variable
from everflow.ops.random.distributions import random_uniform
from everflow.ops.variables.scope import get_variable


def get_epoch_variable():
    """The variable that counts epochs of input, if a pipeline made one; else a single zero."""
    for variable in get_collection(GraphKeys.LOCAL_VARIABLES):
        if "limit_epochs/epoch" in variable.op.name:
            return variable
    return [0]


class TreeVariables:
    """The resources of one tree: the tree and, for training, what is collected at its leaves."""

    def __init__(self, params, tree_num, training, tree_config="", tree_stat=""):
        if not hasattr(params, "params_proto"):
            params.params_proto = build_params_proto(params)
            params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = None
        if training:
            self.stats = fertile_stats_variable(params, tree_stat, self.get_tree_name("stats", tree_num))
        self.tree = tree_variable(params, tree_config, self.stats, self.get_tree_name("tree", tree_num))

    def get_tree_name(self, name, num):
        return f"{name}-{num}"


class ForestVariables:
    """The resources of all trees, each on the device that an empty variable got."""

    def __init__(
        self,
        params,
        device_assigner,
        training=True,
        tree_variables_class=TreeVariables,
        tree_configs=None,
        tree_stats=None,
    ):
        self.variables = []
        with device(device_assigner):
            self.device_dummies = [get_variable(f"device_dummy_{i}", shape=0) for i in range(params.num_trees)]
        for i, dummy in enumerate(self.device_dummies):
            options = {}
            if tree_configs is not None:
                options["tree_config"] = tree_configs[i]
            if tree_stats is not None:
                options["tree_stat"] = tree_stats[i]
            with device(dummy.device):
                self.variables.append(tree_variables_class(params, i, training, **options))

    def __setitem__(self, t, val):
        self.variables[t] = val

    def __getitem__(self, t):
        return self.variables[t]


def _sparse_parts(sparse_features):
    if sparse_features is None:
        return [], [], []
    return sparse_features.indices, sparse_features.values, sparse_features.dense_shape


class RandomTreeGraphs:
    """The graphs of one tree."""

    def __init__(self, variables, params, tree_num):
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    def _settings(self, data_spec):
        return {"input_spec": data_spec.SerializeToString(), "params": self.params.serialized_params_proto}

    def training_graph(
        self, input_data, input_labels, random_seed, data_spec, sparse_features=None, input_weights=None
    ):
        """An op that shows examples to the tree, and lets it grow."""
        math.cast(get_epoch_variable(), dtypes.int32)  # a node of TensorFlow's that nothing uses
        weights = [] if input_weights is None else input_weights
        sparse, settings = _sparse_parts(sparse_features), self._settings(data_spec)
        of_params = {"params": self.params.serialized_params_proto}
        tree, stats = self.variables.tree, self.variables.stats
        leaves = raw.TraverseTreeV4(tree, input_data, *sparse, **settings)
        update = raw.UpdateModelV4(tree, leaves, input_labels, weights, **of_params)
        finished = raw.ProcessInputV4(
            tree, stats, input_data, *sparse, input_labels, weights, leaves, random_seed=random_seed, **settings
        )
        with control_dependencies([update]):
            return raw.GrowTreeV4(tree, stats, finished, **of_params)

    def inference_graph(self, input_data, data_spec, sparse_features=None):
        """(predictions, paths through the tree) for examples."""
        sparse = _sparse_parts(sparse_features)
        return raw.TreePredictionsV4(self.variables.tree, input_data, *sparse, **self._settings(data_spec))

    def size(self):
        """How many nodes the tree has."""
        return raw.TreeSize(self.variables.tree)

    def feature_usage_counts(self):
        """How many splits ask for each feature."""
        return raw.FeatureUsageCounts(self.variables.tree, params=self.params.serialized_params_proto)


class RandomForestGraphs:
    """The graphs of a forest.

    >>> params = tensor_forest.ForestHParams(num_classes=3, num_features=4, num_trees=10, max_nodes=1000).fill()
    >>> graphs = tensor_forest.RandomForestGraphs(params)
    >>> train_op = graphs.training_graph(x, y)
    >>> probabilities, tree_paths, variance = graphs.inference_graph(x)
    """

    def __init__(
        self,
        params,
        tree_configs=None,
        tree_stats=None,
        device_assigner=None,
        variables=None,
        tree_variables_class=TreeVariables,
        tree_graphs=None,
        training=True,
    ):
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        self.variables = variables or ForestVariables(
            params, self.device_assigner, training, tree_variables_class, tree_configs, tree_stats
        )
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[i], params, i) for i in range(params.num_trees)]

    def _device(self, tree_num):
        return device(self.variables.device_dummies[tree_num].device)

    def _bag_features(self, tree_num, input_data):
        """The features that a tree sees."""
        columns = array.split(value=input_data, num_or_size_splits=self.params.num_features, axis=1)
        return array.concat([columns[i] for i in self.params.bagged_features[tree_num]], 1)

    def get_all_resource_handles(self):
        return [part for v in self.variables.variables for part in (v.tree, v.stats)]

    def training_graph(self, input_data, input_labels, num_trainers=1, trainer_id=0, **tree_kwargs):
        """An op that shows examples to all trees, or to those of this trainer."""
        data, sparse, spec = data_ops.ParseDataTensorOrDict(input_data)
        labels = data_ops.ParseLabelTensorOrDict(input_labels)
        data = [] if data is None else data
        per_trainer = self.params.num_trees / num_trainers
        mine = range(int(trainer_id * per_trainer), int((trainer_id + 1) * per_trainer))
        made = []
        for i in mine:
            with self._device(i):
                seed = self.params.base_random_seed
                seed = seed + i if seed else 0
                tree_data, tree_labels = data, labels
                if self.params.bagging_fraction < 1.0:
                    tree_data, tree_labels = self._drawn(data, labels, seed)
                if self.params.bagged_features:
                    if sparse is not None:
                        raise NotImplementedError("Trees that see some features each take no sparse features")
                    tree_data = self._bag_features(i, tree_data)
                tree = self.trees[i]
                made.append(
                    tree.training_graph(
                        tree_data, tree_labels, seed, data_spec=spec, sparse_features=sparse, **tree_kwargs
                    )
                )
        return group(*made, name="train")

    def _drawn(self, data, labels, seed):
        """The examples of a batch that a tree sees."""
        batch_size = array.strided_slice(array.shape(data), [0], [1])
        drawn = random_uniform(batch_size, seed=seed)
        mask = math.less(drawn, array.ones_like(drawn) * self.params.bagging_fraction)
        places = array.squeeze(where(mask), axis=[1])
        return array.gather(data, places), array.gather(labels, places)

    def inference_graph(self, input_data, **inference_args):
        """(mean of the trees' predictions, paths through the trees, variance of the predictions)."""
        data, sparse, spec = data_ops.ParseDataTensorOrDict(input_data)
        probabilities, paths = [], []
        for i in range(self.params.num_trees):
            with self._device(i):
                seen = [] if data is None else data
                if self.params.bagged_features:
                    if sparse is not None:
                        raise NotImplementedError("Trees that see some features each take no sparse features")
                    seen = self._bag_features(i, seen)
                said, path = self.trees[i].inference_graph(seen, spec, sparse_features=sparse, **inference_args)
                probabilities.append(said)
                paths.append(path)
        with self._device(0):
            every = array.stack(probabilities, axis=1)
            mean = math.div(math.reduce_sum(every, 1), self.params.num_trees, name="probabilities")
            tree_paths = array.stack(paths, axis=1)
            mean_of_squares = math.div(math.reduce_sum(every * every, 1), self.params.num_trees)
            variance = math.maximum(0.0, mean_of_squares - mean * mean)
        return mean, tree_paths, variance

    def _of_each_tree(self, ask):
        made = []
        for i in range(self.params.num_trees):
            with self._device(i):
                made.append(ask(self.trees[i]))
        return made

    def average_size(self):
        """The mean number of nodes."""
        sizes = self._of_each_tree(lambda tree: tree.size())
        return math.reduce_mean(math.cast(array.stack(sizes), dtypes.float32))

    def training_loss(self, features, labels, name="training_loss"):
        """Less while trees grow: minus their mean size."""
        return math.negative(self.average_size(), name=name)

    def validation_loss(self, features, labels):
        return math.negative(self.average_size())

    def average_impurity(self):
        """How mixed the trees are; forests of this kind don't say."""
        raise NotImplementedError("Trees keep no impurity of their nodes")

    def feature_importances(self):
        """The share of splits that ask for each feature."""
        counts = [tree.feature_usage_counts() for tree in self.trees]
        total = math.reduce_sum(array.stack(counts, 0), 0)
        return total / math.reduce_sum(total)
