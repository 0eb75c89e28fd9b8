"""`tf.data.experimental.Optional`: a value that may be missing, such as the next element of an iterator."""

from __future__ import annotations

from everflow.data import structure
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec


class OptionalSpec(structure.VariantSpec):
    """The type of an optional: the specs of its value.

    Args:
        value_structure: A spec, or structure of specs, of the value.

    Example:
        >>> tf.OptionalSpec(tf.TensorSpec([], tf.int32))
        OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    def __init__(self, value_structure):
        self._value_structure = value_structure

    value_structure = property(lambda self: self._value_structure)
    value_type = property(lambda self: Optional)
    dtype = property(lambda self: dtypes.variant)
    shape = property(lambda self: TensorShape([]))

    @staticmethod
    def from_value(value):
        """The type of an optional."""
        return OptionalSpec(value.value_structure)

    def from_variant(self, tensor):
        """The optional that a tensor stands for."""
        return Optional(tensor, self._value_structure)

    _component_specs = property(lambda self: [TensorSpec(self.variant_shape, dtypes.variant)])

    def _to_components(self, value):
        return [value._variant_tensor]

    def _from_components(self, components):
        return self.from_variant(components[0])

    def _serialize(self):
        return (self._value_structure,)


OptionalStructure = OptionalSpec


class Optional(structure.VariantValue):
    """A value that may or may not be there.

    Args:
        variant_tensor: The tensor that stands for it.
        value_structure: The specs of its value.

    Example:
        >>> iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
        >>> optional = tf.data.experimental.get_next_as_optional(iterator)
        >>> sess.run([optional.has_value(), optional.get_value()])
        [np.True_, np.int64(0)]
    """

    def __init__(self, variant_tensor, value_structure):
        self._variant_tensor = variant_tensor
        self._value_structure = value_structure

    value_structure = property(lambda self: self._value_structure)
    _type_spec = property(lambda self: OptionalSpec(self._value_structure))

    def has_value(self, name=None):
        """A bool tensor: whether there is a value."""
        return raw.OptionalHasValue(optional=self._variant_tensor, name=name)

    def get_value(self, name=None):
        """The value; InvalidArgumentError when run where there is none."""
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            spec = self._value_structure
            tensors = raw.OptionalGetValue(optional=self._variant_tensor, **structure.attributes(spec), name=scope)
            return structure.from_tensors(spec, tensors)

    @staticmethod
    def from_value(value):
        """An optional that holds a value."""
        with name_scope("optional") as scope, name_scope("value"):
            value = structure.normalize(value)
            spec = structure.map_nest(structure.spec_of, value)
            components = structure.to_tensors(spec, value)
        return Optional(raw.OptionalFromValue(components=components, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure):
        """An optional without a value."""
        return Optional(raw.OptionalNone(), value_structure)


def get_next_as_optional(iterator):
    """The next element of an iterator as an optional, without a value at the end.

    Args:
        iterator: The iterator.

    Returns:
        An `Optional`.

    Example:
        >>> iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
        >>> sess.run(tf.data.experimental.get_next_as_optional(iterator).get_value())
        np.int64(0)
    """
    spec = iterator.element_spec
    variant = raw.IteratorGetNextAsOptional(iterator=iterator._iterator_resource, **structure.attributes(spec))
    return Optional(variant, spec)
