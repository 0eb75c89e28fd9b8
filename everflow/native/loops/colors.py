"""Hue and saturation of pixels: red, green and blue of each as floats, one after the other.

Products and sums are those of the plain kernels, one by one, so that pixels agree to the last bit. A pixel that is not
a number makes a loop answer `OTHER`.
"""

from __future__ import annotations

from everflow.native.loops.objects import OTHER
from everflow.native.loops.words import F32, I64, PF32

_THIRD, _TWO_THIRDS = 2 / 6, 4 / 6


def largest(a: F32, b: F32) -> F32:
    return a if a > b else b


def smallest(a: F32, b: F32) -> F32:
    return a if a < b else b


def distance(a: F32, b: F32) -> F32:
    return a - b if a > b else b - a


def between_0_and_1(x: F32) -> F32:
    return smallest(largest(x, F32(0.0)), F32(1.0))


def turned(hue: F32) -> F32:
    """A hue in sixths of the circle, within it; it is less than two circles off."""
    size = hue if hue >= 0.0 else -hue
    rest = size if size < 6.0 else size - 6.0 if size < 12.0 else size - 12.0
    return rest if hue >= 0.0 else 6.0 - rest if rest > 0.0 else rest


def opposite(red: F32, green: F32, blue: F32, high: F32) -> F32:
    """The difference of the two channels besides the largest: red goes before green before blue."""
    return green - blue if red == high else blue - red if green == high else red - green


def offset(red: F32, green: F32, high: F32, second: F32, third: F32) -> F32:
    """What is added for the largest channel."""
    return F32(0.0) if red == high else second if green == high else third


def all_numbers(images: PF32, count: I64) -> I64:
    odd = 0
    for i in range(count):
        odd += I64(not images[i] == images[i])
    return I64(odd == 0)


def turn_hue(images: PF32, pixels: I64, by: F32, out: PF32) -> I64:
    """`by` in sixths of the circle, not more than one circle."""
    if all_numbers(images, 3 * pixels) == 0:
        return OTHER
    for i in range(pixels):
        red = images[3 * i]
        green = images[3 * i + 1]
        blue = images[3 * i + 2]
        high = largest(largest(red, green), blue)
        low = smallest(smallest(red, green), blue)
        spread = high - low
        hue = opposite(red, green, blue, high) / spread + offset(red, green, high, F32(2.0), F32(4.0))
        at = turned((hue if spread > 0.0 else F32(0.0)) + by)
        out[3 * i] = low + spread * between_0_and_1(distance(at, F32(3.0)) - 1.0)
        out[3 * i + 1] = low + spread * between_0_and_1(2.0 - distance(at, F32(2.0)))
        out[3 * i + 2] = low + spread * between_0_and_1(2.0 - distance(at, F32(4.0)))
    return 0


def scale_saturation(images: PF32, pixels: I64, by: F32, out: PF32) -> I64:
    if all_numbers(images, 3 * pixels) == 0:
        return OTHER
    for i in range(pixels):
        red = images[3 * i]
        green = images[3 * i + 1]
        blue = images[3 * i + 2]
        high = largest(largest(red, green), blue)
        spread = high - smallest(smallest(red, green), blue)
        share = spread / high
        saturation = between_0_and_1((share if high > 0.0 else F32(0.0)) * by)
        norm = 1.0 / (6.0 * spread)
        hue = opposite(red, green, blue, high) * norm + offset(red, green, high, F32(_THIRD), F32(_TWO_THIRDS))
        hue = hue if spread > 0.0 else F32(0.0)
        at = (hue + 1.0 if hue < 0.0 else hue) * 6.0
        grey = 1.0 - saturation
        out[3 * i] = (grey + saturation * between_0_and_1(distance(at, F32(3.0)) - 1.0)) * high
        out[3 * i + 1] = (grey + saturation * between_0_and_1(2.0 - distance(at, F32(2.0)))) * high
        out[3 * i + 2] = (grey + saturation * between_0_and_1(2.0 - distance(at, F32(4.0)))) * high
    return 0


EXPORTED = [turn_hue, scale_saturation]
