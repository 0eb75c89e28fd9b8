"""`TPUEmbedding`: tables of embeddings in the memory of a TPU's hosts, their configuration and the nodes for them."""

from __future__ import annotations

import collections
import re

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import colocate_with, device
from everflow.ops import array
from everflow.ops.tpu.functions import enqueue_tpu_embedding_sparse_tensor_batch, send_tpu_embedding_gradients
from everflow.ops.variables.partitioned import fixed_size_partitioner
from everflow.ops.variables.scope import get_variable
from everflow.protos.tpu_embedding_configuration_pb2 import TPUEmbeddingConfiguration
from everflow.tpu import embedding_optimizers as optimizers
from everflow.tpu.embedding_config import INFERENCE, TRAINING, FeatureConfig, TableConfig

VariablesAndOps = collections.namedtuple(
    "VariablesAndOps", ["embedding_variables_by_table", "slot_variables_by_table", "load_ops", "retrieve_ops"]
)

_STRATEGIES = {"div": TPUEmbeddingConfiguration.DIV_DEFAULT, "mod": TPUEmbeddingConfiguration.MOD}


class TPUEmbedding:
    """Tables and the features that look rows up in them; its nodes feed indices, take activations and send gradients.

    Off a TPU it is made with a `DeviceConfig`, which says what TPU the graph is drawn for.
    """

    def __init__(
        self,
        table_to_config_dict,
        feature_to_config_dict,
        batch_size,
        mode,
        master=None,
        optimization_parameters=None,
        cluster_def=None,
        pipeline_execution_with_tensor_core=False,
        partition_strategy="div",
        device_config=None,
    ):
        if partition_strategy not in _STRATEGIES:
            raise ValueError(f"partition_strategy must be 'div' or 'mod', not {partition_strategy!r}.")
        self._partition_strategy = partition_strategy
        self._table_to_config = _sorted("table_to_config_dict", table_to_config_dict, TableConfig)
        self._feature_to_config = _sorted("feature_to_config_dict", feature_to_config_dict, FeatureConfig)
        self._table_to_features = self._features_by_table()
        self._batch_size = batch_size
        if device_config is None:
            raise ValueError(
                f"TPUEmbedding needs TPUs, and {master or 'this machine'!r} has none: give it a device_config."
            )
        self._set_devices(device_config)
        self._set_mode(mode, optimization_parameters)
        self._pipelined = pipeline_execution_with_tensor_core
        keys = (table.learning_rate_key for table in self._table_to_config.values())
        self._learning_rate_keys = list(dict.fromkeys(key for key in keys if key is not None))
        self._config_proto = self._create_config_proto()

    def _features_by_table(self):
        tables = collections.OrderedDict((name, []) for name in self._table_to_config)
        for name, feature in self._feature_to_config.items():
            if feature.table_id in tables:
                tables[feature.table_id].append(name)
        unused = [name for name, features in tables.items() if not features]
        if unused:
            raise ValueError(f"No feature looks rows up in the tables {unused}.")
        missing = {f.table_id for f in self._feature_to_config.values()} - set(tables)
        if missing:
            raise ValueError(f"Features look rows up in {sorted(missing)}, which table_to_config_dict lacks.")
        return tables

    def _set_devices(self, device_config):
        self._num_cores = device_config.num_cores
        self._num_hosts = device_config.num_hosts
        self._num_cores_per_host = device_config.num_cores // device_config.num_hosts
        self._hosts = [f"{device_config.job_name}/replica:0/task:{i}/device:CPU:0" for i in range(self._num_hosts)]
        if self._batch_size % self._num_cores:
            raise ValueError(f"A batch of {self._batch_size} cannot be spread evenly over {self._num_cores} cores.")

    def _set_mode(self, mode, optimization_parameters):
        if mode not in (TRAINING, INFERENCE):
            raise ValueError(f"mode must be TRAINING ({TRAINING}) or INFERENCE ({INFERENCE}), not {mode!r}.")
        if mode == INFERENCE:
            if optimization_parameters is not None:
                raise ValueError("Without training there are no optimization_parameters.")
            optimization_parameters = optimizers.StochasticGradientDescentParameters(1.0)
        self._mode = mode
        self._optimization_parameters = optimization_parameters
        for table in self._table_to_config:
            if self._optimizer(table) is None:
                raise ValueError(f"Neither table {table!r} nor the TPUEmbedding has optimization_parameters.")

    hosts = property(lambda self: list(self._hosts))
    num_cores = property(lambda self: self._num_cores)
    num_cores_per_host = property(lambda self: self._num_cores_per_host)
    batch_size_per_core = property(lambda self: self._batch_size // self._num_cores)
    config_proto = property(lambda self: self._config_proto, doc="The TPUEmbeddingConfiguration.")
    table_to_config_dict = property(lambda self: dict(self._table_to_config))
    feature_to_config_dict = property(lambda self: dict(self._feature_to_config))
    table_to_features_dict = property(lambda self: self._table_to_features)
    optimization_parameters = property(lambda self: self._optimization_parameters)

    def _optimizer(self, table):
        return self._table_to_config[table].optimization_parameters or self._optimization_parameters

    def _length(self, feature):
        """How many rows of its table's output a feature takes."""
        return self._feature_to_config[feature].max_sequence_length or 1

    def _num_features(self, table):
        return sum(self._length(feature) for feature in self._table_to_features[table])

    def _create_config_proto(self):
        proto = TPUEmbeddingConfiguration(
            mode=self._mode,
            batch_size_per_tensor_core=self.batch_size_per_core,
            num_hosts=self._num_hosts,
            num_tensor_cores=self._num_cores,
            sharding_strategy=_STRATEGIES[self._partition_strategy],
            pipeline_execution_with_tensor_core=self._pipelined,
        )
        for name, table in self._table_to_config.items():
            descriptor = proto.table_descriptor.add(
                name=name,
                vocabulary_size=max(table.vocabulary_size, self._num_hosts),
                dimension=table.dimension,
                num_features=self._num_features(name),
            )
            settings, optimizer = descriptor.optimization_parameters, self._optimizer(name)
            if table.learning_rate_key is not None:
                settings.learning_rate.dynamic.tag = self._learning_rate_keys.index(table.learning_rate_key)
            else:
                given = table.learning_rate
                settings.learning_rate.constant = optimizer.learning_rate if given is None else given
            if table.hot_id_replication:
                settings.hot_id_replication_configuration.status = 1
            optimizer.fill(settings)
        return proto

    def create_variables_and_ops(self, embedding_variable_name_by_table=None, slot_variable_names_by_table=None):
        """Variables of the tables and of their slots, a part on each host, and functions that make the nodes between them
        and the TPU.
        """
        with device(_on_hosts(self._hosts)):
            return self._variables_and_ops(embedding_variable_name_by_table or {}, slot_variable_names_by_table or {})

    def _variables_and_ops(self, names, slot_names):
        tables, slots = collections.OrderedDict(), collections.OrderedDict()
        for name, table in self._table_to_config.items():
            settings = self._optimizer(name)
            optimizer = optimizers.optimizer_of(settings)
            shape = (max(table.vocabulary_size, self._num_hosts), table.dimension)
            variable_name = names.get(name, name)
            tables[name] = self._partitioned(variable_name, shape, table.initializer)
            if optimizer.slots is not None:
                below = slot_names.get(name) or [f"{variable_name}/{slot}" for slot in optimizer.default_names]
                start = optimizers.slot_initializer(settings)
                slots[name] = optimizer.slots(*[self._partitioned(n, shape, start) for n in below])

        def each_part(make):
            made = []
            for name, parts in tables.items():
                for shard in range(len(parts)):
                    variables = [parts[shard], *(slot[shard] for slot in slots.get(name, ()))]
                    made.append(make(self._optimizer(name), name, variables, self._num_hosts, shard))
            return made

        return VariablesAndOps(
            tables, slots, lambda: each_part(optimizers.load_op), lambda: each_part(optimizers.retrieve_op)
        )

    def _partitioned(self, name, shape, initializer):
        """The parts of a variable, one for each host."""
        return list(
            get_variable(
                name,
                shape=shape,
                partitioner=fixed_size_partitioner(self._num_hosts),
                dtype=dtypes.float32,
                initializer=initializer,
                collections=[GraphKeys.GLOBAL_VARIABLES],
                trainable=False,
            )
        )

    def generate_enqueue_ops(self, enqueue_datas_list):
        """A node for each core of this host that feeds the indices to look up."""
        for number, datas in enumerate(enqueue_datas_list):
            self._check_enqueue_datas(number, datas)
        return [self._enqueue(datas, number) for number, datas in enumerate(enqueue_datas_list)]

    def _check_enqueue_datas(self, number, datas):
        missing = set(self._feature_to_config) - set(datas)
        unknown = set(datas) - set(self._feature_to_config)
        if missing or unknown:
            raise ValueError(
                f"The data of core {number} lacks features {sorted(missing)} and has unknown {sorted(unknown)}."
            )
        for name, data in datas.items():
            combiner = self._table_to_config[self._feature_to_config[name].table_id].combiner
            if data.sample_indices is None and combiner:
                raise ValueError(
                    f"Feature {name!r} of core {number} has no sample_indices, and its table combines rows by {combiner!r}."
                )

    def _enqueue(self, datas, device_ordinal):
        first = next(iter(datas.values())).embedding_indices
        columns = {
            key: []
            for key in (
                "sample_indices",
                "embedding_indices",
                "aggregation_weights",
                "table_ids",
                "combiners",
                "max_sequence_lengths",
            )
        }
        with colocate_with(first):
            for table_id, (table, features) in enumerate(self._table_to_features.items()):
                for feature in features:
                    data = datas[feature]
                    samples, weights = data.sample_indices, data.aggregation_weights
                    samples = array.zeros((0,), dtypes.int32) if samples is None else samples
                    weights = array.zeros((0,), dtypes.float32) if weights is None else weights
                    row = (
                        samples,
                        data.embedding_indices,
                        weights,
                        table_id,
                        self._table_to_config[table].combiner or "sum",
                        self._feature_to_config[feature].max_sequence_length,
                    )
                    for column, value in zip(columns.values(), row, strict=True):
                        column.append(value)
            return enqueue_tpu_embedding_sparse_tensor_batch(device_ordinal=device_ordinal, **columns)

    def get_activations(self):
        """What was looked up for each feature, on a core."""
        received = raw.RecvTPUEmbeddingActivations(
            num_outputs=len(self._table_to_config), config=self._config_proto.SerializeToString()
        )
        activations = collections.OrderedDict()
        for output, (table, features) in zip(received, self._table_to_features.items(), strict=True):
            rows = array.reshape(output, [self.batch_size_per_core, self._num_features(table), -1])
            start = 0
            for feature in features:
                length = self._feature_to_config[feature].max_sequence_length
                activations[feature] = rows[:, start : start + length, :] if length else rows[:, start, :]
                start += self._length(feature)
        return activations

    def generate_send_gradients_op(self, feature_to_gradient_dict, learning_rates=None):
        """A node that sends the gradients of activations back to the tables."""
        if self._mode != TRAINING:
            raise RuntimeError("A TPUEmbedding that is not for training takes no gradients.")
        gradients = []
        for features in self._table_to_features.values():
            given = [
                feature_to_gradient_dict[f]
                if self._feature_to_config[f].max_sequence_length
                else array.expand_dims(feature_to_gradient_dict[f], 1)
                for f in features
            ]
            joined = array.concat(given, axis=1)
            gradients.append(array.reshape(joined, [-1, array.shape(given[0])[-1]]))
        rates = learning_rates or {}
        return send_tpu_embedding_gradients(
            inputs=gradients,
            learning_rates=[rates[key] for key in self._learning_rate_keys],
            config=self._config_proto.SerializeToString(),
        )


def _sorted(name, given, kind):
    for key, value in given.items():
        if not isinstance(value, kind):
            raise ValueError(f"{name}[{key!r}] must be a {kind.__name__}, not {value!r}.")
    return collections.OrderedDict(sorted(given.items()))


def _on_hosts(hosts):
    """A device function: parts of variables go to the hosts in turn."""

    def place(op):
        part = re.match(r".*/part_(\d+)(/|$)", op.name)
        is_variable = op.type in ("VariableV2", "Variable", "VarHandleOp")
        return hosts[int(part[1]) if part else 0] if is_variable else ""

    return place
