"""Linear models that are trained by stochastic dual coordinate ascent.

Weights are kept twice: as the optimizer moves them, and shrunk towards zero by the L1 term, which is what predicts.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import colocate_with, control_dependencies, device, name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import dynamic_partition, dynamic_stitch, where
from everflow.ops.control_flow.grouping import group
from everflow.ops.nn import activations as nn
from everflow.ops.nn.losses import log_poisson_loss, sigmoid_cross_entropy_with_logits
from everflow.ops.sdca import sdca_fprint
from everflow.ops.variables import assign as state
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.resource import ResourceVariable
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import parameters
from everflow.summary import scalar as scalar_summary
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from everflow.train.sharded_tables import ShardedMutableDenseHashTable, sum_of_shards

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_STATE_WIDTH = 4
# How sums of weights become predictions, where those are something else: the name scope, and the function.
_LINKS = {
    "logistic_loss": ("sdca/logistic_prediction", math.sigmoid),
    "poisson_loss": ("sdca/poisson_prediction", math.exp),
}


class SparseFeatureColumn:
    """A sparse feature: examples, indices of features and, if they are not all 1, values, as vectors of equal length."""

    def __init__(self, example_indices, feature_indices, feature_values):
        with name_scope(None, "sparseFeatureColumn", [example_indices, feature_indices]):
            self._example_indices = convert_to_tensor(example_indices, name="example_indices", dtype=dtypes.int64)
            self._feature_indices = convert_to_tensor(feature_indices, name="feature_indices", dtype=dtypes.int64)
        self._feature_values = None
        if feature_values is not None:
            with name_scope(None, "sparseFeatureColumn", [feature_values]):
                self._feature_values = convert_to_tensor(feature_values, name="feature_values", dtype=dtypes.float32)

    @property
    def example_indices(self):
        return self._example_indices

    @property
    def feature_indices(self):
        return self._feature_indices

    @property
    def feature_values(self):
        return self._feature_values


class SdcaModel:
    """A linear model of sparse and dense features.

    >>> model = SdcaModel(
    ...     examples={"sparse_features": [...], "dense_features": [...], "example_labels": labels,
    ...               "example_weights": weights, "example_ids": ids},
    ...     variables={"sparse_features_weights": [...], "dense_features_weights": [...]},
    ...     options={"symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0, "loss_type": "logistic_loss"})
    >>> train_op = model.minimize(global_step)
    >>> update = model.update_weights(train_op)
    """

    _slot_suffix = "_unshrinked/SDCAOptimizer"
    _select = staticmethod(where)
    _table_class = ShardedMutableDenseHashTable

    def __init__(self, examples, variables, options):
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be given.")
        if options["loss_type"] not in _LOSSES:
            raise ValueError(f"Unsupported loss_type: {options['loss_type']}; there are {_LOSSES}")
        self._assertSpecified(
            ["example_labels", "example_weights", "example_ids", "sparse_features", "dense_features"], examples
        )
        self._assertList(["sparse_features", "dense_features"], examples)
        self._assertSpecified(["sparse_features_weights", "dense_features_weights"], variables)
        self._assertList(["sparse_features_weights", "dense_features_weights"], variables)
        self._assertSpecified(["loss_type", "symmetric_l2_regularization", "symmetric_l1_regularization"], options)
        for name in ("symmetric_l1_regularization", "symmetric_l2_regularization"):
            if options[name] < 0.0:
                raise ValueError(f"{name} should be 0 or more, and not {options[name]}")
        self._examples, self._variables, self._options = examples, variables, options
        self._create_slots()
        self._hashtable = self._table_class(
            key_dtype=dtypes.int64,
            value_dtype=dtypes.float32,
            num_shards=self._num_table_shards(),
            default_value=[0.0] * _STATE_WIDTH,
            # Fingerprints that no example has, as good as surely.
            empty_key=[0, 0],
            deleted_key=[1, 1],
        )
        scalar_summary("approximate_duality_gap", self.approximate_duality_gap())
        scalar_summary("examples_seen", self._hashtable.size())

    def _symmetric_l1_regularization(self):
        return self._options["symmetric_l1_regularization"]

    def _symmetric_l2_regularization(self):
        # Weights change by duals over this.
        return max(self._options["symmetric_l2_regularization"], 1.0)

    def _num_loss_partitions(self):
        return self._options.get("num_loss_partitions", 1)

    def _adaptive(self):
        return self._options.get("adaptive", True)

    def _num_table_shards(self):
        # A shard for each partition of the loss, where nobody says how many.
        return self._options.get("num_table_shards") or 1

    def _assertSpecified(self, items, check_in):
        for name in items:
            if check_in[name] is None:
                raise ValueError(f"{name} must be given.")

    def _assertList(self, items, check_in):
        for name in items:
            if not isinstance(check_in[name], list):
                raise ValueError(f"{name} must be a list.")

    def _var_to_list(self, var):
        return list(var) if isinstance(var, (list, PartitionedVariable)) else [var]

    def _parts(self):
        """The variables of all weights."""
        names = ("sparse_features_weights", "dense_features_weights")
        return [part for name in names for weights in self._variables[name] for part in self._var_to_list(weights)]

    def _create_slots(self):
        """For each variable another one for weights before they are shrunk."""
        self._slots = {}
        for name in ("sparse_features_weights", "dense_features_weights"):
            made = []
            for weights in self._variables[name]:
                if isinstance(weights, (list, PartitionedVariable)):
                    made.append([])
                    for part in weights:
                        with colocate_with(part):
                            made[-1].append(self._slot_of(part))
                else:
                    with device(weights.device):
                        made.append(self._slot_of(weights))
            self._slots["unshrunk_" + name] = made

    def _slot_of(self, variable):
        return Variable(
            initial_value=array.zeros_like(variable.initialized_value(), dtypes.float32),
            name=variable.op.name + self._slot_suffix,
            use_resource=isinstance(variable, ResourceVariable),
        )

    def _to_double(self, tensor):
        return math.cast(tensor, dtypes.float64)

    def _l1_loss(self):
        """The L1 norm of all weights, times its factor."""
        with name_scope("sdca/l1_loss"):
            sums = [
                math.reduce_sum(math.abs(math.cast(convert_to_tensor(weights), dtypes.float64)))
                for weights in self._parts()
            ]
            return self._symmetric_l1_regularization() * math.add_n(sums)

    def _l2_loss(self, l2):
        """Half of the squared L2 norm of all weights, times its factor."""
        with name_scope("sdca/l2_loss"):
            sums = [
                math.reduce_sum(math.square(math.cast(convert_to_tensor(weights), dtypes.float64)))
                for weights in self._parts()
            ]
            return l2 * math.add_n(sums) / 2.0

    def _convert_n_to_tensor(self, input_list, as_ref=False):
        """Tensors of lists and partitioned variables, joined, and of others as they are."""
        made = []
        for weights in input_list:
            if isinstance(weights, (list, PartitionedVariable)):
                made.append(array.concat(list(weights) if isinstance(weights, list) else weights, 0))
            else:
                made.append(weights if as_ref else convert_to_tensor(weights))
        return made

    def _linear_predictions(self, examples):
        """The sums of weights: [batch]."""
        with name_scope("sdca/prediction"):
            sparse_variables = self._convert_n_to_tensor(self._variables["sparse_features_weights"])
            sparse = 0.0
            for feature, weights in zip(examples["sparse_features"], sparse_variables):
                rows = array.gather(weights, feature.feature_indices)
                entries = math.multiply(rows, feature.feature_values)
                sparse += math.segment_sum(entries, feature.example_indices)
            dense_variables = self._convert_n_to_tensor(self._variables["dense_features_weights"])
            dense = 0.0
            for feature, weights in zip(examples["dense_features"], dense_variables):
                dense += math.matmul(feature, array.expand_dims(weights, -1))
        # A dense sum is a column.
        return array.reshape(dense, [-1]) + sparse

    def predictions(self, examples):
        """What the model says of examples: sums of weights, probabilities or, for Poisson, expected counts."""
        self._assertSpecified(["example_weights", "sparse_features", "dense_features"], examples)
        self._assertList(["sparse_features", "dense_features"], examples)
        sums = self._linear_predictions(examples)
        if self._options["loss_type"] not in _LINKS:
            return sums
        scope, link = _LINKS[self._options["loss_type"]]
        with name_scope(scope):
            return link(sums)

    def minimize(self, global_step=None, name=None):
        """An op that moves the dual variables of the examples, and with them the weights before they are shrunk."""
        with name_scope(name, "sdca/minimize"):
            keys = sdca_fprint(convert_to_tensor(self._examples["example_ids"]))
            found = self._hashtable.lookup(keys)
            # The state of an example has a fixed width, which the table doesn't tell of.
            found.set_shape([None, _STATE_WIDTH])
            features = self._examples["sparse_features"]
            weights = [
                _SparseWeights(self, slots, feature.feature_indices)
                for slots, feature in zip(self._slots["unshrunk_sparse_features_weights"], features)
            ]
            result = raw.SdcaOptimizerV2(
                sparse_example_indices=[feature.example_indices for feature in features],
                sparse_feature_indices=[feature.feature_indices for feature in features],
                sparse_feature_values=[f.feature_values for f in features if f.feature_values is not None],
                dense_features=self._convert_n_to_tensor(self._examples["dense_features"]),
                example_weights=convert_to_tensor(self._examples["example_weights"]),
                example_labels=convert_to_tensor(self._examples["example_labels"]),
                sparse_indices=[w.indices for w in weights],
                sparse_weights=[w.values for w in weights],
                dense_weights=self._convert_n_to_tensor(self._slots["unshrunk_dense_features_weights"]),
                example_state_data=found,
                loss_type=self._options["loss_type"],
                l1=self._symmetric_l1_regularization(),
                l2=self._symmetric_l2_regularization(),
                num_loss_partitions=self._num_loss_partitions(),
                num_inner_iterations=1,
                adaptive=self._adaptive(),
            )
            with control_dependencies([result.out_example_state_data]):
                updates = [self._hashtable.insert(keys, result.out_example_state_data)]
                for share, delta in zip(weights, result.out_delta_sparse_weights):
                    updates += share.add(delta)
                for slots, delta in zip(self._slots["unshrunk_dense_features_weights"], result.out_delta_dense_weights):
                    updates += _add_dense(slots, delta)
            if not global_step:
                return group(*updates)
            with control_dependencies(updates):
                return state.assign_add(global_step, 1).op

    def _num_of_rows(self, weights):
        """How many rows all parts of weights have, from their static shapes."""
        sizes = [part.shape.dims[0].value for part in weights]
        if None in sizes:
            raise ValueError(f"The first dimension of a weight of {len(weights)} parts must be known")
        return sum(sizes)

    def update_weights(self, train_op):
        """An op that, after `train_op`, brings the shrunk weights up to date: those that predict."""
        with control_dependencies([train_op]):
            pairs = []
            for name in ("sparse_features_weights", "dense_features_weights"):
                for weights, slots in zip(self._variables[name], self._slots["unshrunk_" + name]):
                    pairs += zip(self._var_to_list(weights), slots if isinstance(slots, list) else [slots])
            updates = [weights.assign(slot).op for weights, slot in pairs]
        with control_dependencies(updates):
            updates += self._shrink_all([weights for weights, _ in pairs])
            return group(*updates)

    def _shrink_all(self, variables):
        """Ops that move weights towards zero, as the L1 term wants."""
        by = {"l1": self._symmetric_l1_regularization(), "l2": self._symmetric_l2_regularization()}
        made = []
        for variable in variables:
            with device(variable.device):
                made.append(raw.SdcaShrinkL1(weights=[variable._ref()], **by))
        return made

    def approximate_duality_gap(self):
        """How far primal and dual objective are apart: an upper bound of what is to be won."""
        with name_scope("sdca/approximate_duality_gap"):
            _, values = self._hashtable.export_sharded()
            sums = sum_of_shards(values, self._to_double)
            primal, dual, weight = sums[1], sums[2], sums[3]
            losses = primal + dual + self._l1_loss()
            return (losses + 2.0 * self._l2_loss(self._symmetric_l2_regularization())) / weight

    def unregularized_loss(self, examples):
        """The mean loss of examples."""
        self._assertSpecified(["example_labels", "example_weights", "sparse_features", "dense_features"], examples)
        self._assertList(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/unregularized_loss"):
            predictions = math.cast(self._linear_predictions(examples), dtypes.float64)
            labels = math.cast(convert_to_tensor(examples["example_labels"]), dtypes.float64)
            weights = math.cast(convert_to_tensor(examples["example_weights"]), dtypes.float64)
            kind = self._options["loss_type"]
            if kind == "logistic_loss":
                each = sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
            elif kind == "poisson_loss":
                each = log_poisson_loss(targets=labels, log_input=predictions)
            elif kind in ("hinge_loss", "smooth_hinge_loss"):
                ones = array.ones_like(predictions)
                signs = math.subtract(2 * labels, ones)
                each = nn.relu(math.subtract(ones, math.multiply(signs, predictions)))
            else:
                err = math.square(math.subtract(labels, predictions))
                return math.reduce_sum(math.multiply(err, weights)) / (2.0 * math.reduce_sum(weights))
            return math.reduce_sum(math.multiply(each, weights)) / math.reduce_sum(weights)

    def regularized_loss(self, examples):
        """The mean loss of examples, and what the weights' size costs."""
        self._assertSpecified(["example_labels", "example_weights", "sparse_features", "dense_features"], examples)
        self._assertList(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/regularized_loss"):
            weights = convert_to_tensor(examples["example_weights"])
            size = self._l1_loss() + self._l2_loss(self._options["symmetric_l2_regularization"])
            share = size / math.reduce_sum(math.cast(weights, dtypes.float64))
            return share + self.unregularized_loss(examples)


class _SparseWeights:
    """The weights of a sparse feature that a batch needs: a row for each feature it has, wherever the parts are."""

    def __init__(self, model, slots, feature_indices):
        unique, _ = array.unique(math.cast(feature_indices, dtypes.int32))
        self.indices = math.cast(unique, dtypes.int64)
        self._slots = slots
        if not isinstance(slots, list):
            self.values = array.gather(slots, self.indices)
            return
        count = len(slots)
        flat = array.reshape(self.indices, [-1])
        rows = constant(model._num_of_rows(slots), flat.dtype)
        # Partitions are cut as evenly as can be, and the first ones have one row more.
        each, extras = rows // count, rows % count
        which = math.maximum(flat // (each + 1), (flat - extras) // each)
        place = model._select(which < extras, flat % (each + 1), (flat - extras) % each)
        self._which = math.cast(which, dtypes.int32)
        self._shares = dynamic_partition(place, self._which, count)
        gathered = []
        for slot, share in zip(slots, self._shares):
            with colocate_with(slot):
                gathered.append(array.gather(slot, share))
        positions = dynamic_partition(math.range(array.shape(place)[0]), self._which, count)
        self.values = dynamic_stitch(positions, gathered)

    def add(self, delta):
        """Ops that add to the rows."""
        if not isinstance(self._slots, list):
            return [state.scatter_add(self._slots, self.indices, delta)]
        deltas = dynamic_partition(delta, self._which, len(self._slots))
        updates = []
        for slot, share, delta in zip(self._slots, self._shares, deltas):
            with colocate_with(slot):
                updates.append(state.scatter_add(slot, share, delta))
        return updates


def _add_dense(slots, delta):
    """Ops that add to the weights of a dense feature."""
    if not isinstance(slots, list):
        return [state.assign_add(slots, delta)]
    sizes = [slot.shape.as_list()[0] for slot in slots]
    return [state.assign_add(slot, part) for slot, part in zip(slots, array.split(delta, sizes, axis=0))]


# What optimizers by dual coordinate ascent take: the feature that tells examples apart, then options of the model.
SETTINGS = parameters(
    """example_id_column, num_loss_partitions=1, num_table_shards=None, symmetric_l1_regularization=0.0,
    symmetric_l2_regularization=1.0, adaptive=True"""
)


class SdcaOptimizer:
    """Base of optimizers that train an `SdcaModel`; `settings` has a value for each of `SETTINGS`."""

    _model_class = SdcaModel

    def __init__(self, settings):
        self._settings = settings

    def _train_step(self, sparse, dense, weights, labels, ids, loss_type, global_step):
        """(model, op of a step) for features with the variables that weigh them, given as pairs."""
        examples = {"example_weights": weights, "example_labels": labels, "example_ids": ids}
        variables = {}
        for kind, pairs in (("sparse_features", sparse), ("dense_features", dense)):
            examples[kind] = [feature for feature, _ in pairs]
            variables[f"{kind}_weights"] = [variable for _, variable in pairs]
        options = {name: value for name, value in self._settings.items() if name != "example_id_column"}
        model = self._model_class(examples, variables, {**options, "loss_type": loss_type})
        return model, model.minimize(global_step=global_step)


class UpdateWeights(SessionRunHook):
    """Brings the weights that predict up to date after each step; `model` and `train_op` are known by `begin`."""

    model = train_op = None

    def begin(self):
        if self.model is None:
            raise ValueError("The hook was given no SDCA model: call set_parameters first")
        self._update = self.model.update_weights(self.train_op)

    def before_run(self, run_context):
        return SessionRunArgs(self._update)
