"""Shapes and types of tensors, to compare others with, and to make placeholders and parsers of."""

from __future__ import annotations

import collections

from everflow.framework.composites import SparseTensor
from everflow.framework.shapes import TensorShape
from everflow.ops.array import placeholder
from everflow.ops.io.examples import FixedLenFeature, VarLenFeature, parse_example
from everflow.ops.sparse.functions import sparse_placeholder


class TensorSignature(collections.namedtuple("TensorSignature", ["dtype", "shape", "is_sparse"])):
    """The type and shape of a tensor, without the size of the batch."""

    def __new__(cls, tensor):
        if isinstance(tensor, SparseTensor):
            return super().__new__(cls, dtype=tensor.values.dtype, shape=None, is_sparse=True)
        return super().__new__(cls, dtype=tensor.dtype, shape=tensor.get_shape(), is_sparse=False)

    def is_compatible_with(self, other):
        """Whether it may stand for another."""

        def inner(shape):
            # The size of the batch may be another.
            if shape is None:
                return None
            dims = TensorShape(shape).dims
            return None if dims is None else TensorShape([None, *dims[1:]])

        if other.is_sparse:
            return self.is_sparse and self.dtype.is_compatible_with(other.dtype)
        shape, theirs = inner(self.shape), inner(other.shape)
        fits = shape is None or theirs is None or shape.is_compatible_with(theirs)
        return self.dtype.is_compatible_with(other.dtype) and fits and not self.is_sparse

    def get_placeholder(self):
        """A placeholder for such a tensor."""
        if self.is_sparse:
            return sparse_placeholder(dtype=self.dtype)
        return placeholder(dtype=self.dtype, shape=[None, *list(self.shape[1:])])

    def get_feature_spec(self):
        """What a parser of Examples is told."""
        if self.is_sparse:
            return VarLenFeature(dtype=self.dtype)
        return FixedLenFeature(shape=self.shape[1:], dtype=self.dtype)


def tensors_compatible(tensors, signatures):
    """Whether tensors, one or a dict, go with signatures; a dict may have more tensors than there are signatures."""
    if signatures is None:
        return tensors is None
    if tensors is None:
        return False
    if isinstance(signatures, dict):
        if not isinstance(tensors, dict):
            return False
        made = create_signatures(tensors)
        return all(key in made and made[key].is_compatible_with(signature) for key, signature in signatures.items())
    if isinstance(tensors, dict):
        return False
    return create_signatures(tensors).is_compatible_with(signatures)


def create_signatures(tensors):
    """The signatures of tensors, of one or of a dict."""
    if isinstance(tensors, dict):
        return {key: TensorSignature(tensor) for key, tensor in tensors.items()}
    return None if tensors is None else TensorSignature(tensors)


def create_placeholders_from_signatures(signatures):
    """Placeholders for signatures, for one or for a dict."""
    if isinstance(signatures, dict):
        return {key: create_placeholders_from_signatures(signature) for key, signature in signatures.items()}
    return signatures and signatures.get_placeholder()


def create_example_parser_from_signatures(signatures, examples_batch, single_feature_name="feature"):
    """Tensors parsed from serialized Examples, as signatures say."""
    if not isinstance(signatures, dict):
        parsed = parse_example(examples_batch, {single_feature_name: signatures.get_feature_spec()})
        return parsed[single_feature_name]
    return parse_example(examples_batch, {key: signature.get_feature_spec() for key, signature in signatures.items()})
