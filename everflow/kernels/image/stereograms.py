"""Single-image random-dot stereograms: depth hidden in dots that repeat at distances which the two eyes read as depth.

The algorithm is that of Thimbleby, Inglis and Witten, "Displaying 3D Images" (IEEE Computer 27/10, 1994), done for all
rows at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.framework.shapes import TensorShape


class _CRandom:
    """The numbers of the C library's `rand()` from its first seed on, which is where TensorFlow's dots come from."""

    def __init__(self) -> None:
        state = [1]
        for _ in range(30):
            state.append(16807 * state[-1] % 2147483647)
        self._state = np.array(state[3:] + state[:3], np.uint32)
        self.take(310)

    def take(self, count: int) -> np.ndarray:
        """The next `count` numbers: each is the sum of those 31 and 3 places before it, without the lowest bit."""
        numbers = np.concatenate([self._state, np.empty(count, np.uint32)])
        for i in range(31, len(numbers), 3):
            numbers[i : i + 3] = numbers[i - 31 : i - 28][: len(numbers) - i] + numbers[i - 3 : i][: len(numbers) - i]
        self._state = numbers[-31:].copy()
        return numbers[31:] >> 1


# One stream for the process, as rand() has.
_random = _CRandom()


def _depths_in_image(
    depths: np.ndarray, shape: tuple[int, int], window: list[int], border: float, gap: int
) -> np.ndarray:
    """The depth of each pixel: the nearest one of the data inside the window, the border's outside."""
    (height, width), (window_width, window_height) = shape, window
    y, x = np.arange(height) - gap, np.arange(width) - (width - window_width) // 2
    inside = ((y >= 0) & (y < window_height))[:, None] & ((x >= 0) & (x < window_width))
    rows = np.clip(y * depths.shape[0] // window_height, 0, depths.shape[0] - 1)
    columns = np.clip(x * depths.shape[1] // window_width, 0, depths.shape[1] - 1)
    return np.where(inside, depths[rows[:, None], columns], border)


def _separation(depth: np.ndarray | float, mu: float, eyes: float) -> np.ndarray:
    """How far apart the two pixels are in which the eyes see one point of this depth."""
    return np.floor((1 - mu * depth) * eyes / (2 - mu * depth) + 0.5)


def _visible(depths: np.ndarray, x: int, mu: float, eyes: float) -> np.ndarray:
    """For each row, whether no nearer point stands between the point in column x and an eye."""
    width, own = depths.shape[1], depths[:, x]
    visible, looking = np.ones(len(own), bool), np.ones(len(own), bool)
    distance = 1
    while looking.any():
        line = own + 2 * (2 - mu * own) * distance / (mu * eyes)
        left = depths[:, x - distance] if x >= distance else 0.0
        right = depths[:, x + distance] if x + distance < width else 0.0
        visible &= ~looking | ((left < line) & (right < line))
        looking &= visible & (line < 1)
        distance += 1
    return visible


def _links(depths: np.ndarray, mu: float, eyes: float, hidden_surface_removal: bool) -> np.ndarray:
    """For each pixel the one to its right that has to look the same, or itself."""
    height, width = depths.shape
    same = np.tile(np.arange(width), (height, 1))
    for x in range(width):
        known = np.isfinite(depths[:, x])
        separation = np.where(known, _separation(np.where(known, depths[:, x], 0), mu, eyes), 0).astype(int)
        left = x - separation // 2
        right = left + separation
        linked = known & (left >= 0) & (right < width)
        if hidden_surface_removal:
            linked &= _visible(depths, x, mu, eyes)
        rows = np.flatnonzero(linked)
        left, right = left[rows], right[rows]
        # A pixel can be linked already: follow its chain, keeping it sorted, to where this link belongs.
        following = same[rows, left]
        while (going := (following != left) & (following != right)).any():
            nearer, farther = going & (following < right), going & (following >= right)
            same[rows[farther], left[farther]] = right[farther]
            left = np.where(nearer, following, np.where(farther, right, left))
            following = np.where(going, same[rows, left], following)
            right = np.where(farther, following, right)
        same[rows, left] = right
    return same


@fresh("SingleImageRandomDotStereograms", effect=Effect.RANDOM)
def single_image_random_dot_stereograms(
    depth_values: torch.Tensor,
    *,
    hidden_surface_removal: bool,
    convergence_dots_size: int,
    dots_per_inch: int,
    eye_separation: float,
    mu: float,
    normalize: bool,
    normalize_max: float,
    normalize_min: float,
    border_level: float,
    number_colors: int,
    output_image_shape: TensorShape,
    output_data_window: TensorShape,
) -> torch.Tensor:
    """Rows of dots that are random where they may be, the same where two pixels show one point; below them two dots to
    look at first.
    """
    if depth_values.dim() != 2:
        raise InvalidArgumentError(None, None, f"depth_values must be a matrix, got shape {list(depth_values.shape)}")
    sizes: list[Any] = output_image_shape.as_list()
    window: list[Any] = output_data_window.as_list()[:2]
    (width, height), channels = sizes[:2], _channels(sizes, number_colors)
    depths = depth_values.numpy().astype(np.float64)
    if normalize:
        low, high = (normalize_min, normalize_max) if normalize_max >= normalize_min else (depths.min(), depths.max())
        with np.errstate(all="ignore"):
            depths = (depths - low) / (high - low)
    spare, dots = height - window[1] - convergence_dots_size, convergence_dots_size
    # Equal gaps above the data, between it and the two dots, and below those.
    gap = max(spare // 3 if dots else spare // 2, 0)
    eyes = eye_separation * dots_per_inch
    depths = _depths_in_image(np.clip(depths, 0.0, 1.0), (height, width), window, border_level, gap)
    same = _links(depths, mu, eyes, hidden_surface_removal)
    image = _painted(same, channels, number_colors)
    if dots:
        half = int(_separation(0.0, mu, eyes)) // 2
        _draw_dots(image, dots, height - gap - dots, (width // 2 - half - dots // 2, width // 2 + half - dots // 2))
    return torch.from_numpy(image)


def _channels(shape: list[int], number_colors: int) -> int:
    given = shape[2] if len(shape) >= 3 else 1
    return 3 if number_colors > 256 else given


def _painted(same: np.ndarray, channels: int, number_colors: int) -> np.ndarray:
    """Dots from right to left, row by row: a new colour for a pixel that is free, else that of the pixel it is linked
    to.
    """
    height, width = same.shape
    free = same == np.arange(width)
    numbers = _random.take(int(free.sum()) * channels).reshape(-1, channels)
    image = np.zeros((height, width, channels), np.uint8)
    image[:, ::-1][free[:, ::-1]] = (numbers % 2 * 255 if number_colors == 2 else numbers % 256).astype(np.uint8)
    rows = np.arange(height)
    for x in range(width - 1, -1, -1):
        image[rows, x] = image[rows, same[:, x]]
    return image


def _draw_dots(image: np.ndarray, size: int, top: int, lefts: tuple[int, int]) -> None:
    """Two black squares. One that reaches over the edge goes on in the neighbouring row."""
    pixels = image.reshape(-1, image.shape[2])
    for left in lefts:
        at = ((np.arange(top, top + size) * image.shape[1])[:, None] + np.arange(left, left + size)).ravel()
        pixels[at[(at >= 0) & (at < len(pixels))]] = 0
