"""An iterator whose elements go to several devices in turn."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.dataset import Dataset
from everflow.data.iterators import IteratorSpec, IteratorV2
from everflow.data.optional import get_next_as_optional
from everflow.data.settings import as_int64
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import device, executing_eagerly, get_default_graph
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops import control_flow


class MultiDeviceIterator:
    """Elements of one dataset for several devices, the first one's, the second one's, and so on.

    >>> iterator = MultiDeviceIterator(dataset, ["/cpu:0", "/gpu:0"])
    >>> sess.run(iterator.initializer)
    >>> on_cpu, on_gpu = iterator.get_next()
    """

    def __init__(self, dataset, devices, max_buffer_size=1, prefetch_buffer_size=1, source_device="/cpu:0"):
        slack_period = 1 if dataset.options().experimental_slack else 0
        dataset = dataset._apply_options()
        self._devices, self._element_spec = list(devices), dataset.element_spec
        attributes = structure.attributes(self._element_spec)
        with device(source_device):
            if executing_eagerly():
                self._resource, self._deleter = raw.AnonymousMultiDeviceIterator(devices=self._devices, **attributes)
            else:
                self._resource = raw.MultiDeviceIterator(
                    devices=self._devices, shared_name="", container="", **attributes
                )
            incarnation = raw.MultiDeviceIteratorInit(
                dataset=dataset._variant_tensor, multi_device_iterator=self._resource, max_buffer_size=max_buffer_size
            )
        self._iterators = []
        for shard, name in enumerate(self._devices):
            with device(name):
                part = self._part(shard, incarnation, attributes)
                if prefetch_buffer_size > 0:
                    size = as_int64(buffer_size=prefetch_buffer_size)
                    part = part._then(raw.PrefetchDataset, **size, slack_period=slack_period)
                self._iterators.append(IteratorV2(part) if executing_eagerly() else part.make_initializable_iterator())

    def _part(self, shard, incarnation, attributes):
        """What goes to one of the devices, as a dataset."""

        def following(incarnation):
            tensors = raw.MultiDeviceIteratorGetNextFromShard(
                multi_device_iterator=self._resource, shard_num=shard, incarnation_id=incarnation, **attributes
            )
            return structure.from_tensors(self._element_spec, tensors)

        return Dataset.from_tensors(incarnation).repeat().map(following)

    element_spec = property(lambda self: self._element_spec)

    @property
    def initializer(self):
        """The op that starts it from its dataset's beginning."""
        if executing_eagerly():
            return control_flow.no_op()
        return control_flow.group(*[iterator.initializer for iterator in self._iterators])

    def _at(self, name):
        """Pairs of the devices, or of the one by this name, and their iterators."""
        pairs = list(zip(self._devices, self._iterators, strict=True))
        return pairs if name is None else [pairs[self._devices.index(name)]]

    def _each(self, ask, name=None):
        found = []
        for place, iterator in self._at(name):
            with device(place):
                found.append(ask(iterator))
        return found

    def get_next(self, device=None):
        """The next element for each device, as a list; that of one device where its name is given."""
        found = self._each(lambda iterator: iterator.get_next(), device)
        return found if device is None else found[0]

    def get_next_as_optional(self):
        """The next element for each device, as optionals."""
        return self._each(get_next_as_optional)


class MultiDeviceIteratorV2(MultiDeviceIterator):
    """The same for loops of eager execution and of traced functions: each step gives the elements for all devices.

    It is made of a dataset and devices, or else, as an argument of a function, of components and their spec.
    """

    def __init__(
        self,
        dataset=None,
        devices=None,
        max_buffer_size=1,
        prefetch_buffer_size=1,
        source_device="/cpu:0",
        components=None,
        element_spec=None,
    ):
        if not executing_eagerly() and not get_default_graph().building_function:
            raise RuntimeError(
                "MultiDeviceIteratorV2 is for eager execution and tf.function: a graph takes MultiDeviceIterator"
            )
        if (dataset is None or devices is None) == (components is None):
            raise ValueError("It is made of a dataset and devices, or else of components and an element_spec")
        self._source_device = source_device
        if components is None:
            super().__init__(dataset, devices, max_buffer_size, prefetch_buffer_size, source_device)
            return
        self._resource, self._deleter, *self._iterators = components
        self._devices, self._element_spec = list(devices or ()), element_spec

    _type_spec = property(lambda self: MultiDeviceIteratorSpec(self._devices, self._source_device, self._element_spec))

    def __iter__(self):
        return self

    def __next__(self):
        return [next(iterator) for iterator in self._iterators]

    next = __next__


class MultiDeviceIteratorSpec(TypeSpec):
    """The type of such an iterator: its devices, and the specs of an element."""

    def __init__(self, devices, source_device, element_spec):
        self._devices, self._source_device, self._element_spec = devices, source_device, element_spec

    value_type = property(lambda self: MultiDeviceIteratorV2)

    def _serialize(self):
        return tuple(self._devices), self._source_device, self._element_spec

    @property
    def _component_specs(self):
        parts = [IteratorSpec(self._element_spec) for _ in self._devices]
        return [TensorSpec([], dtypes.resource), TensorSpec([], dtypes.variant), *parts]

    def _to_components(self, value):
        return [value._resource, value._deleter, *value._iterators]

    def _from_components(self, components):
        made = MultiDeviceIteratorV2.__new__(MultiDeviceIteratorV2)
        made._resource, made._deleter, *made._iterators = components
        made._devices, made._source_device, made._element_spec = (
            list(self._devices),
            self._source_device,
            self._element_spec,
        )
        return made

    @staticmethod
    def from_value(value):
        """The spec of an iterator."""
        return value._type_spec
