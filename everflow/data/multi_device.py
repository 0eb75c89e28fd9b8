"""An iterator whose elements go to several devices in turn."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.dataset import Dataset
from everflow.data.iterators import IteratorV2
from everflow.data.optional import get_next_as_optional
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import device, executing_eagerly
from everflow.ops import control_flow


class MultiDeviceIterator:
    """Elements of one dataset for several devices, the first one's, the second one's, and so on.

    >>> iterator = MultiDeviceIterator(dataset, ["/cpu:0", "/gpu:0"])
    >>> sess.run(iterator.initializer)
    >>> on_cpu, on_gpu = iterator.get_next()
    """

    def __init__(self, dataset, devices, max_buffer_size=1, prefetch_buffer_size=1, source_device="/cpu:0"):
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
                    part = part.prefetch(prefetch_buffer_size)
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
        if name is None:
            return self._iterators
        return [self._iterators[self._devices.index(name)]]

    def get_next(self, device=None):
        """The next element for each device, as a list; that of one device where its name is given."""
        found = [iterator.get_next() for iterator in self._at(device)]
        return found if device is None else found[0]

    def get_next_as_optional(self):
        """The next element for each device, as optionals."""
        return [get_next_as_optional(iterator) for iterator in self._iterators]


class MultiDeviceIteratorV2(MultiDeviceIterator):
    """The same for loops: each step gives the elements for all devices."""

    def __iter__(self):
        return self

    def __next__(self):
        return [next(iterator) for iterator in self._iterators]

    next = __next__


OwnedMultiDeviceIterator = MultiDeviceIteratorV2
