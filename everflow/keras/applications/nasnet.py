"""tf.keras.applications.nasnet: two kinds of cells that a search found, stacked."""

from __future__ import annotations

from everflow.framework.scopes import name_scope
from everflow.keras import backend as K
from everflow.keras import layers
from everflow.keras.applications import building
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing
from everflow.platform.signatures import takes

preprocess_input = preprocessing("tf")


def _joined_axis():
    return 1 if K.image_data_format() == "channels_first" else -1


def _normalized(x, name):
    return layers.BatchNormalization(axis=building.channels_axis(), momentum=0.9997, epsilon=1e-3, name=name)(x)


def _convolve(x, filters, name):
    return layers.Conv2D(
        filters, (1, 1), strides=(1, 1), padding="same", name=name, use_bias=False, kernel_initializer="he_normal"
    )(x)


def _separable(x, filters, size, block_id, stride=1):
    """Two separable convolutions, the first with a stride, each after an activation."""
    with name_scope("separable_conv_block_" + block_id):
        x = layers.Activation("relu")(x)
        padding = "same"
        if stride == 2:
            x = layers.ZeroPadding2D(
                padding=building.correct_padding(x, size), name="separable_conv_1_pad_" + block_id
            )(x)
            padding = "valid"
        for i in (1, 2):
            if i == 2:
                x = layers.Activation("relu")(x)
            strides, pad = ((stride, stride), padding) if i == 1 else ((1, 1), "same")
            made = {"use_bias": False, "kernel_initializer": "he_normal", "name": f"separable_conv_{i}_{block_id}"}
            x = layers.SeparableConv2D(filters, (size, size), strides=strides, padding=pad, **made)(x)
            x = _normalized(x, f"separable_conv_{i}_bn_{block_id}")
    return x


def _halved(x, filters, name):
    x = layers.AveragePooling2D((1, 1), strides=(2, 2), padding="valid", name="adjust_avg_pool_" + name)(x)
    return _convolve(x, filters, "adjust_conv_" + name)


def _adjusted(p, x, filters, block_id):
    """The output of the cell before the last, with the size and the channels that this cell has."""
    rows = 2 if K.image_data_format() == "channels_first" else 1
    with name_scope("adjust_block"):
        if p is None:
            return x
        if K.int_shape(p)[rows] != K.int_shape(x)[rows]:
            with name_scope("adjust_reduction_block_" + block_id):
                p = layers.Activation("relu", name="adjust_relu_1_" + block_id)(p)
                first = _halved(p, filters // 2, f"1_{block_id}")
                # The same, one pixel further.
                second = layers.ZeroPadding2D(padding=((0, 1), (0, 1)))(p)
                second = layers.Cropping2D(cropping=((1, 0), (1, 0)))(second)
                second = _halved(second, filters // 2, f"2_{block_id}")
                p = layers.concatenate([first, second], axis=_joined_axis())
                return _normalized(p, "adjust_bn_" + block_id)
        if K.int_shape(p)[building.channels_axis()] != filters:
            with name_scope("adjust_projection_block_" + block_id):
                p = layers.Activation("relu")(p)
                p = _convolve(p, filters, "adjust_conv_projection_" + block_id)
                return _normalized(p, "adjust_bn_" + block_id)
        return p


def _average(x, name):
    return layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=name)(x)


def _added(number, parts, name):
    """The sum of what a function draws in the scope of a block."""
    with name_scope(f"block_{number}"):
        return layers.add(parts(), name=name)


def _halving(pool, x, name):
    return pool((3, 3), strides=(2, 2), padding="valid", name=name)(x)


def _begun(x, p, filters, kind, block_id):
    """(what a cell starts from: the last output, with its channels, and that of the cell before)"""
    p = _adjusted(p, x, filters, block_id)
    h = layers.Activation("relu")(x)
    h = _convolve(h, filters, f"{kind}_conv_1_{block_id}")
    return _normalized(h, f"{kind}_bn_1_{block_id}"), p


def _normal_cell(x, p, filters, block_id):
    """A cell that keeps the size. Gives its output and its input, which the cell after the next takes."""
    with name_scope("normal_A_block_" + block_id):
        h, p = _begun(x, p, filters, "normal", block_id)

        def separable(x, size, place):
            return _separable(x, filters, size, f"normal_{place}_{block_id}")

        def average(x, place):
            return _average(x, f"normal_{place}_{block_id}")

        def add(number, parts):
            return _added(number, parts, f"normal_add_{number}_{block_id}")

        x1 = add(1, lambda: [separable(h, 5, "left1"), separable(p, 3, "right1")])
        x2 = add(2, lambda: [separable(p, 5, "left2"), separable(p, 3, "right2")])
        x3 = add(3, lambda: [average(h, "left3"), p])
        x4 = add(4, lambda: [average(p, "left4"), average(p, "right4")])
        x5 = add(5, lambda: [separable(h, 3, "left5"), h])
        joined = layers.concatenate([p, x1, x2, x3, x4, x5], axis=_joined_axis(), name="normal_concat_" + block_id)
    return joined, x


def _reduction_cell(x, p, filters, block_id):
    """A cell that halves the size."""
    with name_scope("reduction_A_block_" + block_id):
        h, p = _begun(x, p, filters, "reduction", block_id)
        padded = layers.ZeroPadding2D(padding=building.correct_padding(h, 3), name="reduction_pad_1_" + block_id)(h)

        def separable(x, size, place, stride=2):
            return _separable(x, filters, size, f"reduction_{place}_{block_id}", stride=stride)

        def pooled(pool, place):
            return _halving(pool, padded, f"reduction_{place}_{block_id}")

        def add(number, name, parts):
            return _added(number, parts, f"reduction_{name}_{block_id}")

        largest, mean = layers.MaxPooling2D, layers.AveragePooling2D
        x1 = add(1, "add_1", lambda: [separable(h, 5, "left1"), separable(p, 7, "right1")])
        x2 = add(2, "add_2", lambda: [pooled(largest, "left2"), separable(p, 7, "right2")])
        x3 = add(3, "add3", lambda: [pooled(mean, "left3"), separable(p, 5, "right3")])
        x4 = _added(4, lambda: [x2, _average(x1, "reduction_left4_" + block_id)], None)
        x5 = add(5, "add4", lambda: [separable(x1, 3, "left4", stride=1), pooled(largest, "right5")])
        joined = layers.concatenate([x2, x3, x4, x5], axis=_joined_axis(), name="reduction_concat_" + block_id)
    return joined, x


def _nasnet(name, doc, size, penultimate_filters, blocks, stem_filters, skip_reduction):
    """The public function that makes a model: images are of `size` by default, and there are `blocks` cells in a row."""

    @takes(
        """input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
        **kwargs"""
    )
    def make(input_shape, include_top, weights, input_tensor, pooling, classes, **kwargs):
        building.check_weights(weights, include_top, classes)
        input_shape = building.obtain_input_shape(input_shape, size, 32, True, weights)
        images = building.image_input(input_tensor, input_shape)
        filters = penultimate_filters // 24
        start = {"strides": (2, 2), "padding": "valid", "use_bias": False, "kernel_initializer": "he_normal"}
        x = layers.Conv2D(stem_filters, (3, 3), name="stem_conv1", **start)(images)
        x = _normalized(x, "stem_bn1")
        x, p = _reduction_cell(x, None, filters // 4, "stem_1")
        x, p = _reduction_cell(x, p, filters // 2, "stem_2")
        for i in range(blocks):
            x, p = _normal_cell(x, p, filters, str(i))
        for part in (1, 2):
            filters *= 2
            x, before = _reduction_cell(x, p, filters, f"reduce_{part * blocks}")
            p = p if skip_reduction else before
            for i in range(blocks):
                x, p = _normal_cell(x, p, filters, str(part * blocks + i + 1))
        x = layers.Activation("relu")(x)
        if include_top:
            x = layers.GlobalAveragePooling2D()(x)
            x = layers.Dense(classes, activation="softmax", name="predictions")(x)
        else:
            x = building.pooled(x, pooling)
        file = f"NASNet-{name.removeprefix('NASNet').lower()}{'' if include_top else '-no-top'}.h5"
        return building.finished(x, images, input_tensor, "NASNet", weights, file, folder="nasnet")

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return make


NASNetLarge = _nasnet("NASNetLarge", "NASNet for images of 331 by 331.", 331, 4032, 6, 96, True)
NASNetMobile = _nasnet(
    "NASNetMobile", "NASNet for images of 224 by 224, small enough for telephones.", 224, 1056, 4, 32, False
)
