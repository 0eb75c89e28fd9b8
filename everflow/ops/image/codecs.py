"""Image files: decoding, encoding and telling formats apart."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_value
from everflow.ops import array, control_flow, math
from everflow.ops.array.constants import constant
from everflow.ops.image.checks import is_tensor
from everflow.ops.image.color import convert_image_dtype
from everflow.ops.random import distributions as random


def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """The [height, width, channels] image of a JPEG (or PNG) file; `ratio` shrinks while decoding.

    Args:
        contents: The bytes of the file, a scalar string.
        channels: How many colour channels the result has; 0 takes what the file has.
        ratio: By what the image is shrunk: 1, 2, 4 or 8.
        fancy_upscaling: Whether colours are smoothed when they are scaled up.
        try_recover_truncated: Whether a file that ends early is read as far as it goes.
        acceptable_fraction: The least share of lines that must be there.
        dct_method: `INTEGER_FAST`, `INTEGER_ACCURATE`, or an empty string for the default.
        name: The name of the operation in the graph.

    Returns:
        An image [height, width, channels] of bytes.

    Example:
        >>> jpeg = tf.image.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
        >>> sess.run(tf.image.decode_jpeg(jpeg, channels=3)).shape
        (8, 8, 3)
    """
    return raw.DecodeJpeg(**locals())


def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """A window [top, left, height, width] of a JPEG file.

    Args:
        contents: The bytes of the file, a scalar string.
        crop_window: Where: [top, left, height, width].
        channels: How many colour channels the result has; 0 takes what the file has.
        ratio: By what the image is shrunk: 1, 2, 4 or 8.
        fancy_upscaling: Whether colours are smoothed when they are scaled up.
        try_recover_truncated: Whether a file that ends early is read as far as it goes.
        acceptable_fraction: The least share of lines that must be there.
        dct_method: `INTEGER_FAST`, `INTEGER_ACCURATE`, or an empty string for the default.
        name: The name of the operation in the graph.

    Returns:
        An image [height, width, channels] of bytes.

    Example:
        >>> jpeg = tf.image.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
        >>> sess.run(tf.image.decode_and_crop_jpeg(jpeg, [0, 0, 4, 4])).shape
        (4, 4, 3)
    """
    return raw.DecodeAndCropJpeg(**locals())


def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """The [height, width, channels] image of a PNG file, of 8 or 16 bits.

    Args:
        contents: The bytes of the file, a scalar string.
        channels: How many colour channels the result has; 0 takes what the file has.
        dtype: `tf.uint8` or `tf.uint16`.
        name: The name of the operation in the graph.

    Returns:
        An image [height, width, channels].

    Example:
        >>> png = tf.image.encode_png(tf.zeros([4, 2, 3], tf.uint8))
        >>> sess.run(tf.image.decode_png(png)).shape
        (4, 2, 3)
    """
    return raw.DecodePng(contents=contents, channels=channels, dtype=dtype, name=name)


def decode_gif(contents, name=None):
    """The [frames, height, width, 3] images of a GIF file.

    Args:
        contents: The bytes of the file, a scalar string.
        name: The name of the operation in the graph.

    Returns:
        Images [frames, height, width, 3] of bytes.

    Example:
        >>> from io import BytesIO
        >>> from PIL import Image
        >>> file = BytesIO()
        >>> Image.new("RGB", (4, 2)).save(file, "GIF")
        >>> sess.run(tf.image.decode_gif(file.getvalue())).shape
        (1, 2, 4, 3)
    """
    return raw.DecodeGif(contents=contents, name=name)


def decode_bmp(contents, channels=0, name=None):
    """The [height, width, channels] image of a BMP file.

    Args:
        contents: The bytes of the file, a scalar string.
        channels: How many colour channels the result has; 0 takes what the file has.
        name: The name of the operation in the graph.

    Returns:
        An image [height, width, channels] of bytes.

    Example:
        >>> from io import BytesIO
        >>> from PIL import Image
        >>> file = BytesIO()
        >>> Image.new("RGB", (4, 2)).save(file, "BMP")
        >>> sess.run(tf.image.decode_bmp(file.getvalue())).shape
        (2, 4, 3)
    """
    return raw.DecodeBmp(contents=contents, channels=channels, name=name)


def encode_jpeg(
    image,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
    name=None,
):
    r"""A JPEG file of a [height, width, channels] image of bytes.

    Args:
        image: An image [height, width, channels] of bytes.
        format: `grayscale`, `rgb`, or an empty string to go by the channels.
        quality: From 0 to 100.
        progressive: Whether the file shows a coarse image first.
        optimize_size: Whether it takes longer to be smaller.
        chroma_downsampling: Whether colours are kept at half the resolution.
        density_unit: `in` or `cm`.
        x_density: Pixels per unit, horizontally.
        y_density: Pixels per unit, vertically.
        xmp_metadata: XMP metadata to put in.
        name: The name of the operation in the graph.

    Returns:
        The bytes of the file, a scalar string.

    Example:
        >>> sess.run(tf.image.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)))[:2]
        b'\xff\xd8'
    """
    return raw.EncodeJpeg(**locals())


def encode_png(image, compression=-1, name=None):
    r"""A PNG file of a [height, width, channels] image of bytes or 16-bit values.

    Args:
        image: An image [height, width, channels] of bytes or 16-bit values.
        compression: From 0 to 9; -1 for the default.
        name: The name of the operation in the graph.

    Returns:
        The bytes of the file, a scalar string.

    Example:
        >>> sess.run(tf.image.encode_png(tf.zeros([8, 8, 3], tf.uint8)))[:4]
        b'\x89PNG'
    """
    return raw.EncodePng(image=image, compression=compression, name=name)


def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """[height, width, channels] of a JPEG file, without decoding it.

    Args:
        contents: The bytes of the file, a scalar string.
        output_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        A vector of three numbers.

    Example:
        >>> sess.run(tf.image.extract_jpeg_shape(tf.image.encode_jpeg(tf.zeros([8, 4, 3], tf.uint8))))
        array([8, 4, 3], dtype=int32)
    """
    return raw.ExtractJpegShape(contents=contents, output_type=output_type, name=name)


def _starts_with(contents, signature, default_scope, name):
    with name_scope(name, default_scope):
        start = raw.Substr(input=contents, pos=0, len=3)
        return math.equal(start, signature, name=name)


def is_jpeg(contents, name=None):
    """Whether a string begins as JPEG files do.

    Args:
        contents: The bytes of the file, a scalar string.
        name: The name of the operation in the graph.

    Returns:
        A bool tensor.

    Example:
        >>> sess.run(tf.image.is_jpeg("GIF89a"))
        np.False_
    """
    return _starts_with(contents, b"\xff\xd8\xff", "is_jpeg", name)


def _is_png(contents, name=None):
    return _starts_with(contents, b"\211PN", "is_png", name)


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The image of a JPEG, PNG, GIF or BMP file, whichever it is. A GIF has a dimension of frames unless
    `expand_animations` is off.

    Args:
        contents: The bytes of the file, a scalar string.
        channels: How many colour channels the result has; what the file has if None.
        dtype: The type of the result; floats are scaled to [0, 1].
        name: The name of the operation in the graph.
        expand_animations: Whether a GIF has a dimension of frames; else its first one is taken.

    Returns:
        An image of unknown shape.

    Raises:
        ValueError: If channels or type aren't possible.

    Example:
        >>> png = tf.image.encode_png(tf.zeros([4, 2, 3], tf.uint8))
        >>> sess.run(tf.image.decode_image(png)).shape
        (4, 2, 3)
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        wanted = 0 if channels is None else channels
        start = raw.Substr(input=contents, pos=0, len=3)

        def bmp():
            is_bmp = math.equal(raw.Substr(input=contents, pos=0, len=2), "BM", name="is_bmp")
            known = control_flow.Assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])
            good = math.not_equal(wanted, 1, name="check_channels")
            fits = control_flow.Assert(good, ["Channels must be in (None, 0, 3) when decoding BMP images"])
            with control_dependencies([known, fits]):
                return convert_image_dtype(decode_bmp(contents), dtype)

        def gif():
            good = math.logical_and(
                math.not_equal(wanted, 1, name="check_gif_channels"),
                math.not_equal(wanted, 4, name="check_gif_channels"),
            )
            fits = control_flow.Assert(good, ["Channels must be in (None, 0, 3) when decoding GIF images"])
            with control_dependencies([fits]):
                frames = convert_image_dtype(decode_gif(contents), dtype)
                return frames if expand_animations else array.gather(frames, 0)

        def png():
            return convert_image_dtype(
                decode_png(contents, wanted, dtypes.uint8 if dtype == dtypes.uint8 else dtypes.uint16), dtype
            )

        def jpeg():
            good = math.not_equal(wanted, 4, name="check_jpeg_channels")
            fits = control_flow.Assert(good, ["Channels must be in (None, 0, 1, 3) when decoding JPEG images"])
            with control_dependencies([fits]):
                return convert_image_dtype(decode_jpeg(contents, wanted), dtype)

        def gif_or_bmp():
            return control_flow.cond(math.equal(start, b"\x47\x49\x46", name="is_gif"), gif, bmp, name="cond_gif")

        def png_or_other():
            return control_flow.cond(_is_png(contents), png, gif_or_bmp, name="cond_png")

        return control_flow.cond(is_jpeg(contents), jpeg, png_or_other, name="cond_jpeg")


def adjust_jpeg_quality(image, jpeg_quality, name=None):
    """The image as it comes back from a JPEG file of this quality, with its noise.

    Args:
        image: An image [height, width, channels], or a batch of images.
        jpeg_quality: From 0 to 100.
        name: The name of the operation in the graph.

    Returns:
        Images of the same shape and type.

    Example:
        >>> tf.image.adjust_jpeg_quality(tf.zeros([4, 4, 3]), 75).shape.as_list()
        [None, None, None]
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        dtype = image.dtype
        image = convert_image_dtype(image, dtypes.uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = constant(jpeg_quality, dtypes.int32)
        encoded = raw.EncodeJpegVariableQuality(images=image, quality=jpeg_quality)
        return convert_image_dtype(decode_jpeg(encoded), dtype)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """`adjust_jpeg_quality` with a quality drawn from [min_jpeg_quality, max_jpeg_quality).

    Args:
        image: An image [height, width, channels], or a batch of images.
        min_jpeg_quality: The lower bound, from 0 to 100.
        max_jpeg_quality: The upper bound.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Raises:
        ValueError: If the bounds don't fit.

    Example:
        >>> tf.image.random_jpeg_quality(tf.zeros([4, 4, 3]), 75, 95).shape.as_list()
        [None, None, None]
    """
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError(
            f"min_jpeg_quality must be below max_jpeg_quality; got {min_jpeg_quality} and {max_jpeg_quality}"
        )
    quality = random.random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


# Shape rules


def _scalar(tensor):
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {tensor.shape.rank}")


def _channels(op):
    channels = op.attrs["channels"]
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return channels or None


@shape_rule("DecodeJpeg", "DecodePng", "DecodeBmp")
def _decoded_shape(op):
    _scalar(op.inputs[0])
    return TensorShape([None, None, _channels(op)])


@shape_rule("DecodeGif")
def _gif_shape(op):
    _scalar(op.inputs[0])
    return TensorShape([None, None, None, 3])


@shape_rule("DecodeAndCropJpeg")
def _cropped_shape(op):
    _scalar(op.inputs[0])
    window = op.inputs[1]
    if window.shape.rank not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {window.shape.rank}")
    if window.shape.rank == 1 and window.shape.size(0) not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {window.shape.size(0)}")
    value = known_value(window)
    height, width = (None, None) if value is None else (int(value[2]), int(value[3]))
    return TensorShape([height, width, _channels(op)])


@shape_rule("ExtractJpegShape")
def _jpeg_shape_shape(op):
    _scalar(op.inputs[0])
    return TensorShape([3])


@shape_rule("EncodeJpeg", "EncodePng", "EncodeJpegVariableQuality")
def _encoded_shape(op):
    if op.inputs[0].shape.rank not in (None, 3):
        raise ValueError(f"Shape must be rank 3 but is rank {op.inputs[0].shape.rank}")
    for other in op.inputs[1:]:
        _scalar(other)
    return TensorShape([])
