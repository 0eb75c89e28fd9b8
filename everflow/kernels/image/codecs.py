"""Image files to tensors and back: JPEG, PNG, GIF and BMP. Every decoder but BMP's takes any of the first three
formats.

JPEG is decoded by simplejpeg, which offers libjpeg-turbo's fast transform, TensorFlow's default: the same pixels to the
last bit. The codecs are imported at first use; most programs read no image files.
"""

from __future__ import annotations

import functools
import io
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InternalError, InvalidArgumentError
from everflow.kernels.image import jpeg_parts
from everflow.kernels.image import png as image_png
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import Strings, from_numpy, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_JPEG, _PNG, _GIF = "JPEG", "PNG", "GIF"
_SIGNATURES = ((b"\xff\xd8\xff", _JPEG), (b"\x89PNG\r\n\x1a\n", _PNG), (b"GIF8", _GIF))


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _show(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _bytes(contents: Strings) -> bytes:
    if contents.ndim != 0:
        raise _invalid("contents must be scalar, got shape " + _show(contents.shape))
    return contents.item()


def _escaped(data: bytes) -> str:
    return "".join(chr(c) if 32 <= c < 127 else f"\\{c:03o}" for c in data)


def _format(data: bytes) -> str:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    what = f"unknown format starting with '{_escaped(data[:16])}'" if data else "empty file"
    raise _invalid(f"Expected image (JPEG, PNG, or GIF), got {what}")


# --- decoding

_BROKEN = (
    ValueError,
    KeyError,
)  # what simplejpeg raises for data it can't read; the second for an unknown colour space


_TRUNCATED = "Premature end"  # how libjpeg says that data ends too early
_WARNINGS = (_TRUNCATED, "Corrupt JPEG data")  # how messages begin of what can be decoded nevertheless


def _decode_jpeg(
    data: bytes,
    channels: int,
    options: dict[str, Any],
    window: list[int] | None = None,
    into: np.ndarray | None = None,
) -> np.ndarray:
    """`into`: memory that takes the image, if it has just the room for it."""
    if channels == 4:
        raise _invalid("channels must be 0, 1, or 3 for JPEG, got 4")
    try:
        image = _whole(data, channels, options, into) if window is None else _part(data, channels, options, window)
    except _BROKEN as error:
        raise _invalid(f"Invalid JPEG data or crop window, data size {len(data)}") from error
    return np.ascontiguousarray(image)


def _whole(data: bytes, channels: int, options: dict[str, Any], into: np.ndarray | None) -> np.ndarray:
    """An image whose file is read to its end: what follows the data counts, too, unlike for a part."""
    strictly = {**options, "try_recover_truncated": False, "is_strict": True}
    try:
        return _pixels(data, channels, strictly, into)
    except ValueError as error:
        if not str(error).startswith(_WARNINGS):
            raise
        image = _pixels(data, channels, {**options, "try_recover_truncated": True}, into)
        if jpeg_parts.has_end(data) or options["try_recover_truncated"]:
            return image
        lines = jpeg_parts.whole_rows(data, options["ratio"]) if str(error).startswith(_TRUNCATED) else 0
        if not lines or lines < options["acceptable_fraction"] * len(image):
            raise
        image[lines:] = 0
        return image


def _part(data: bytes, channels: int, options: dict[str, Any], window: list[int]) -> np.ndarray:
    """A window of an image: of a smaller file, or of the whole."""
    top, left, rows, columns = window
    part = jpeg_parts.Part(top, left, rows, columns, options["ratio"])
    made = jpeg_parts.cut(data, part)
    if made is None:
        try:
            return _part_of_whole(data, channels, options, part)
        except ValueError as error:
            made = jpeg_parts.cut(data, part, is_only_way=True) if _TRUNCATED in str(error) else None
            if made is None:
                raise
    file, top, left = made
    return _cropped(_pixels(file, channels, options, None), top, left, part.rows, part.columns)


def _part_of_whole(data: bytes, channels: int, options: dict[str, Any], part: jpeg_parts.Part) -> np.ndarray:
    found = jpeg_parts.layout(data)
    if found is None or not options["fancy_upscaling"]:
        return _cropped(_pixels(data, channels, options, None), *part[:4])
    stored, start = found
    without_means = {**options, "fancy_upscaling": False}
    is_narrow = jpeg_parts.is_narrow(stored, part)
    image = _cropped(_pixels(data, channels, without_means if is_narrow else options, None), *part[:4])
    seams = jpeg_parts.seams(stored, part)
    if image.shape[2] == 3 and seams and not is_narrow:
        planes = _pixels(jpeg_parts.colors(data, stored, start), 3, without_means, None)
        for column, more in seams:
            image[:, column - part.left] = jpeg_parts.mended(stored, planes, part, column, more)
    return image


def _pixels(data: bytes, channels: int, options: dict[str, Any], into: np.ndarray | None) -> np.ndarray:
    import simplejpeg

    height, width, colors = _frame(data)
    ratio = options["ratio"]
    is_gray = channels == 1 or (channels == 0 and colors == 1)
    space = "CMYK" if colors == 4 else "GRAY" if is_gray else "RGB"
    if into is not None and into.shape != (-(-height // ratio), -(-width // ratio), {"GRAY": 1, "RGB": 3}.get(space)):
        into = None
    decode = functools.partial(
        simplejpeg.decode_jpeg,
        data,
        colorspace=space,
        fastdct=options["dct_method"] != "INTEGER_ACCURATE",
        fastupsample=not options["fancy_upscaling"],
        min_height=-(-height // ratio),
        min_width=-(-width // ratio),
        buffer=into,
    )
    try:
        image = decode(strict=not options["try_recover_truncated"])
    except ValueError as error:
        if _TRUNCATED in str(error) or options.get("is_strict"):
            raise
        image = decode(strict=False)  # what is wrong within the data is decoded as well as may be
    return _of_inks(image, channels, jpeg_parts.is_adobes(data)) if space == "CMYK" else image


_COLORS = {"Gray": 1, "CMYK": 4, "YCCK": 4}


def _frame(data: bytes) -> tuple[int, int, int]:
    """Height, width and number of colours that are stored."""
    import simplejpeg

    found = jpeg_parts.frame(data)
    if found is not None:
        return found
    height, width, colors, _ = simplejpeg.decode_jpeg_header(data, strict=False)
    return height, width, _COLORS.get(colors, 3)


def _of_inks(image: np.ndarray, channels: int, is_inverted: bool) -> np.ndarray:
    """Cyan, magenta, yellow and black as red, green and blue. Adobe's programs store the light that inks leave."""
    if channels == 1:
        raise ValueError("inks have no grey")
    light = (image if is_inverted else 255 - image).astype(np.uint16)
    return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)


def _cropped(image: np.ndarray, top: int, left: int, rows: int, columns: int) -> np.ndarray:
    """A part of an image; ValueError where it goes beyond."""
    is_within = 0 <= top <= image.shape[0] - rows and 0 <= left <= image.shape[1] - columns
    if not is_within or rows <= 0 or columns <= 0:
        raise ValueError("the window is not within the image")
    return image[top : top + rows, left : left + columns]


def _gif_frames(data: bytearray) -> list[tuple[int, int, int, int]]:
    """(left, top, width, height) of each frame, by the blocks of a file; ValueError or IndexError where they are not as
    they should be, up to the one that ends it.

    What blocks say of transparent colours, and of what becomes of a frame after it was shown, is taken out: TensorFlow
    puts each frame's colours over the frame before.
    """

    def after_palette(at: int, flags: int) -> int:
        return at + (3 << (flags & 7) + 1 if flags & 0x80 else 0)

    def after_pieces(at: int) -> int:
        while data[at]:
            at += 1 + data[at]
        return at + 1

    frames, at = [], after_palette(13, data[10])
    while data[at] != _GIF_END:
        if data[at] == _GIF_EXTENSION:
            if data[at + 1] == _GIF_CONTROL:
                data[at + 3] &= ~_GIF_SHOWN_HOW
            at = after_pieces(at + 2)
        elif data[at] == _GIF_FRAME:
            frames.append(struct.unpack_from("<4H", data, at + 1))
            at = after_pieces(after_palette(at + 10, data[at + 9]) + 1)
        else:
            raise ValueError("no such kind of block")
    return frames


_GIF_EXTENSION, _GIF_FRAME, _GIF_END = b"!,;"
_GIF_CONTROL, _GIF_SHOWN_HOW = 0xF9, 0b11101


def _decode_gif(data: bytes) -> np.ndarray:
    """All frames as [frames, height, width, 3]."""
    from PIL import Image, ImageSequence, UnidentifiedImageError

    problem = f"Invalid GIF data (size {len(data)}), "
    try:
        plain = bytearray(data)
        places = _gif_frames(plain)
        image = Image.open(io.BytesIO(plain))
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]
    except (OSError, SyntaxError, EOFError, ValueError, IndexError, struct.error, UnidentifiedImageError) as error:
        raise _invalid(problem + "failed to slurp gif file: Failed to read from given file") from error
    # The canvas is what frames take of it, whatever the file's head says.
    width, height = (max((place[i] + place[i + 2] for place in places), default=0) for i in range(2))
    if not places or places[0] != (0, 0, width, height):
        raise _invalid(problem + "the first frame does not fill the canvas")
    return np.stack(frames)[:, :height, :width]


def decode(
    contents: Strings,
    channels: int,
    dtype: DType = dtypes.uint8,
    options: dict[str, Any] | None = None,
    window: list[int] | None = None,
    frames: bool = False,
    into: np.ndarray | None = None,
) -> torch.Tensor:
    data = _bytes(contents)
    if channels not in (0, 1, 3, 4):
        raise _invalid(f"channels must be 0, 1, 3, or 4, got {channels}")
    kind = _format(data)
    if dtype == dtypes.uint16 and kind != _PNG:
        raise _invalid(f"{kind} does not support uint16 output")
    if kind == _JPEG:
        image = _decode_jpeg(data, channels, options or _PLAIN, window, into)
    elif kind == _PNG:
        image = image_png.decode(data, channels, np.uint16 if dtype == dtypes.uint16 else np.uint8)
    else:
        if channels not in (0, 3):
            raise _invalid(f"channels must be 0 or 3 for GIF, got {channels}")
        image = _decode_gif(data)
        if frames:
            return from_numpy(image)
        if len(image) > 1:
            raise _invalid(
                f"Got {len(image)} frames, but animated gifs can only be decoded by tf.image.decode_gif or tf.image.decode_image"
            )
        return from_numpy(image[0])
    return from_numpy(image[None] if frames else image)


_PLAIN = {
    "ratio": 1,
    "fancy_upscaling": True,
    "try_recover_truncated": False,
    "acceptable_fraction": 1.0,
    "dct_method": "",
}


def jpeg_options(
    ratio: int, fancy_upscaling: bool, try_recover_truncated: bool, acceptable_fraction: float, dct_method: str
) -> dict[str, Any]:
    if ratio not in (1, 2, 4, 8):
        raise _invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise _invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    return {
        "ratio": ratio,
        "fancy_upscaling": fancy_upscaling,
        "try_recover_truncated": try_recover_truncated,
        "acceptable_fraction": acceptable_fraction,
        "dct_method": dct_method,
    }


@fresh("DecodeJpeg")
def decode_jpeg(
    contents: Strings,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: str,
) -> torch.Tensor:
    options = jpeg_options(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return decode(contents, channels, options=options)


@fresh("DecodeAndCropJpeg")
def decode_and_crop_jpeg(
    contents: Strings,
    crop_window: torch.Tensor,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: str,
) -> torch.Tensor:
    """`crop_window` is [top, left, height, width]; other formats are not cropped."""
    if crop_window.dim() != 1:
        raise _invalid("crop_window must be 1-D, got shape " + _show(crop_window.shape))
    if crop_window.numel() != 4:
        raise _invalid("crop_size must have four elements " + _show(crop_window.shape))
    options = jpeg_options(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return decode(contents, channels, options=options, window=crop_window.tolist())


@fresh("DecodePng")
def decode_png(contents: Strings, *, channels: int, dtype: DType) -> torch.Tensor:
    return decode(contents, channels, dtype)


@fresh("DecodeGif")
def decode_gif(contents: Strings) -> torch.Tensor:
    return decode(contents, 0, frames=True)


@fresh("ExtractJpegShape")
def extract_jpeg_shape(contents: Strings, *, output_type: DType) -> torch.Tensor:
    import simplejpeg

    data = _bytes(contents)
    try:
        height, width, colors, _ = simplejpeg.decode_jpeg_header(data, strict=False)
        if jpeg_parts.is_progressive(data):
            _whole(data, 0, {**_PLAIN, "try_recover_truncated": True}, None)
    except _BROKEN as error:
        raise _invalid(f"Invalid JPEG data, size {len(data)}") from error
    return torch.tensor([height, width, _COLORS.get(colors, 3)], dtype=torch_dtype(output_type))


@fresh("DecodeBmp")
def decode_bmp(contents: Strings, *, channels: int) -> torch.Tensor:
    """Uncompressed BMP of 8 (grey), 24 or 32 bits a pixel, rows from the bottom up unless the height is negative."""
    data = _bytes(contents)
    if len(data) < 32:
        raise _invalid(
            f"Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {len(data)} bytes"
        )
    start, width, height, bits = (
        struct.unpack_from(kind, data, at)[0] for kind, at in (("<i", 10), ("<i", 18), ("<i", 22), ("<H", 28))
    )
    depth = bits // 8
    if channels and channels != depth:
        raise _invalid(f"channels attribute {channels} does not match bits per pixel from file {depth}")
    if depth not in (1, 3, 4):
        raise _invalid(f"Number of channels must be 1, 3 or 4, was {depth}")
    if width <= 0:
        raise _invalid("Width must be positive")
    if height == 0:
        raise _invalid("Height must be nonzero")
    stride = (8 * depth * width + 31) // 32 * 4
    rows = abs(height)
    if start < 0 or start + (rows - 1) * stride + depth * width > len(data):
        raise _invalid(
            f"Incomplete bmp content, requires at least {start + rows * stride} bytes, got {len(data)} bytes"
        )
    body = data[start : start + rows * stride].ljust(rows * stride, b"\0")
    pixels = np.frombuffer(body, np.uint8).reshape(rows, stride)[:, : width * depth].reshape(rows, width, depth)
    if height > 0:
        pixels = pixels[::-1]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[depth]
    return torch.from_numpy(np.ascontiguousarray(pixels[..., order]))


# --- encoding


def _string(data: bytes) -> Strings:
    return np.array(data, dtype=object)


def _to_jpeg(image: torch.Tensor, format: str, options: dict[str, Any]) -> bytes:
    """`options` are Pillow's."""
    from PIL import Image

    if image.dim() != 3:
        raise _invalid("image must be 3-dimensional" + _show(image.shape))
    channels = image.shape[2]
    wanted = {"grayscale": 1, "rgb": 3}.get(format)
    if wanted is not None and channels != wanted:
        raise _invalid(f"format {format} expects {wanted} channel{'s' if wanted > 1 else ''}, got {_show(image.shape)}")
    if channels not in (1, 3):
        raise _invalid(f"image must have 1 or 3 channels, got {_show(image.shape)}")
    if not image.numel():
        raise InternalError(None, None, "JPEG encoding failed")
    array = image.contiguous().numpy()
    file = io.BytesIO()
    Image.fromarray(array[..., 0] if channels == 1 else array).save(file, "JPEG", **options)
    return file.getvalue()


@fresh("EncodeJpeg")
def encode_jpeg(
    image: torch.Tensor,
    *,
    format: str,
    quality: int,
    progressive: bool,
    optimize_size: bool,
    chroma_downsampling: bool,
    density_unit: str,
    x_density: int,
    y_density: int,
    xmp_metadata: str,
) -> Strings:
    if not 0 <= quality <= 100:
        raise _invalid(f"quality must be in [0,100], got {quality}")
    options: dict[str, Any] = {
        "quality": quality or 1,  # Pillow reads 0 as its default, libjpeg as 1
        "progressive": progressive,
        "optimize": optimize_size,
        "subsampling": 2 if chroma_downsampling else 0,
        "dpi": (x_density, y_density),
    }
    if xmp_metadata:
        options["xmp"] = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
    data = _to_jpeg(image, format, options)
    if density_unit == "cm":
        data = data[:13] + b"\2" + data[14:]  # the unit in the JFIF header; Pillow writes inches only
    return _string(data)


@fresh("EncodeJpegVariableQuality")
def encode_jpeg_variable_quality(images: torch.Tensor, quality: torch.Tensor) -> Strings:
    if quality.dim() != 0:
        raise _invalid("quality must be scalar: " + _show(quality.shape))
    value = int(quality)
    if not 0 <= value <= 100:
        raise _invalid(f"quality must be in [0,100], got {value}")
    return _string(_to_jpeg(images, "", {"quality": value or 1, "subsampling": 2, "dpi": (300, 300)}))


@fresh("EncodePng")
def encode_png(image: torch.Tensor, *, compression: int) -> Strings:
    if image.dim() != 3:
        raise _invalid("image must be 3-dimensional" + _show(image.shape))
    if not 1 <= image.shape[2] <= 4:
        raise _invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[2]}")
    if not -1 <= compression <= 9:
        raise _invalid(f"compression should be in [-1,9], got {compression}")
    if not image.numel():
        raise InternalError(None, None, "PNG encoding failed")
    return _string(image_png.encode(image.contiguous().numpy(), compression))
