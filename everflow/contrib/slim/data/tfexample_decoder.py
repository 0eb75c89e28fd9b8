"""slim.tfexample_decoder: serialized `tf.train.Example`s to images, boxes, numbers and labels.

>>> decoder = TFExampleDecoder(
...     {"image/encoded": tf.FixedLenFeature((), tf.string), "label": tf.FixedLenFeature([], tf.int64)},
...     {"image": Image(image_key="image/encoded"), "label": Tensor("label")})
>>> image, label = decoder.decode(serialized, ["image", "label"])
"""

from __future__ import annotations

import abc

from everflow import image as image_ops
from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.slim.data.data_decoder import DataDecoder
from everflow.framework import composites, dtypes
from everflow.framework.operation import Tensor as _GraphTensor
from everflow.ops import array, math
from everflow.ops.control_flow import case, cond
from everflow.ops.control_flow import maps as functional
from everflow.ops.io import parsing
from everflow.ops.io.examples import parse_single_example
from everflow.ops.sparse import functions as sparse


class ItemHandler(abc.ABC):
    """Makes one item of the parsed features `keys`."""

    def __init__(self, keys):
        self._keys = list(keys) if isinstance(keys, (tuple, list)) else [keys]

    keys = property(lambda self: self._keys, doc="The features it needs.")

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, from a dict of parsed features."""


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes of a dict of features."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes, one a row: ymin, xmin, ymax, xmax."""

    def __init__(self, keys=None, prefix=""):
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        self._prefix = prefix
        self._full_keys = [prefix + key for key in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors):
        sides = []
        for key in self._full_keys:
            side = keys_to_tensors[key]
            if isinstance(side, composites.SparseTensor):
                side = side.values
            sides.append(array.expand_dims(side, 0))
        return array.transpose(array.concat(sides, 0))


class Tensor(ItemHandler):
    """A feature itself, in a shape that is given or is a feature as well; missing values are `default_value`."""

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError(f"The shape is given or read from features, not both: {shape}, {shape_keys}")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        keep(self, locals())
        super().__init__([tensor_key, *(shape_keys or [])])

    def tensors_to_item(self, keys_to_tensors):
        shape = self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = array.reshape(array.stack(sizes), [-1])
        item = keys_to_tensors[self._tensor_key]
        if shape is not None:
            item = (sparse.sparse_reshape if isinstance(item, composites.SparseTensor) else array.reshape)(item, shape)
        return _dense(item, self._default_value)


def _dense(tensor, default_value=None):
    is_sparse = isinstance(tensor, composites.SparseTensor)
    return sparse.sparse_tensor_to_dense(tensor, default_value) if is_sparse else tensor


class LookupTensor(Tensor):
    """A feature looked up in a table."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """What one handler makes, or another where that is empty."""

    def __init__(self, handler, backup):
        for given in (handler, backup):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"A BackupHandler chooses between two ItemHandlers, but one is a {type(given)}")
        super().__init__(handler.keys + backup.keys)
        self._handler, self._backup = handler, backup

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        empty = math.equal(math.reduce_prod(array.shape(item)), 0)
        return cond(empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensor(ItemHandler):
    """A SparseTensor of two features, its indices and its values."""

    def __init__(self, indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0):
        keep(self, locals())
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors):
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        own = self._shape if self._shape else indices.dense_shape
        shape = keys_to_tensors[self._shape_key] if self._shape_key else own
        # The places are values of a feature; what came before them in its own indices, a batch for example, stays.
        kept = array.slice_(indices.indices, [0, 0], array.stack([-1, array.shape(indices.indices)[1] - 1]))
        places = array.concat([kept, array.reshape(indices.values, [-1, 1])], 1)
        tensor = composites.SparseTensor(places, values.values, shape)
        return sparse.sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An encoded image (PNG, JPEG, GIF, BMP), or its raw bytes where the format says so; several with `repeated`."""

    def __init__(
        self, image_key=None, format_key=None, shape=None, channels=3, dtype=dtypes.uint8, repeated=False, dct_method=""
    ):
        image_key = image_key or "image/encoded"
        format_key = format_key or "image/format"
        super().__init__([image_key, format_key])
        keep(self, locals())
        self._dtype = dtype

    def tensors_to_item(self, keys_to_tensors):
        encoded, image_format = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return functional.map_fn(lambda x: self._decode(x, image_format), encoded, dtype=self._dtype)
        return self._decode(encoded, image_format)

    def _decode(self, encoded, image_format):
        def decode_image():
            return math.cast(image_ops.decode_image(encoded, channels=self._channels), self._dtype)

        def decode_jpeg():
            return math.cast(image_ops.decode_jpeg(encoded, self._channels, dct_method=self._dct_method), self._dtype)

        def check_jpeg():
            # JPEG has a decoder of its own, whose method can be chosen.
            return cond(image_ops.is_jpeg(encoded), decode_jpeg, decode_image, name="cond_jpeg")

        def decode_raw():
            return parsing.decode_raw(encoded, out_type=self._dtype)

        is_raw = math.logical_or(math.equal(image_format, "raw"), math.equal(image_format, "RAW"))
        image = case([(is_raw, decode_raw)], default=check_jpeg, exclusive=True)
        image.set_shape([None, None, self._channels])
        return array.reshape(image, self._shape) if self._shape is not None else image


class TFExampleDecoder(DataDecoder):
    """Items of serialized Examples: `keys_to_features` says how to parse, `items_to_handlers` what to make of it."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self):
        return list(self._items_to_handlers.keys())

    def decode(self, serialized_example, items=None):
        features = parse_single_example(serialized_example, self._keys_to_features)
        # Fixed features get the shapes they were declared with.
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if (
                hasattr(feature, "default_value")
                and hasattr(feature, "shape")
                and isinstance(features[key], _GraphTensor)
            ):
                features[key] = array.reshape(features[key], feature.shape)
        items = items or self._items_to_handlers.keys()
        outputs = []
        for item in items:
            handler = self._items_to_handlers[item]
            outputs.append(handler.tensors_to_item({key: features[key] for key in handler.keys}))
        return outputs
