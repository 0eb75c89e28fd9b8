"""The gradient of the conversion from RGB to HSV: it depends on which channel is the largest and which the smallest."""

from __future__ import annotations

import functools
import operator

from everflow.framework.registry import gradient, not_differentiable
from everflow.ops import array, math

not_differentiable("HSVToRGB")


def _inverse(x):
    """1 / x, and 0 where x is 0."""
    return math.div_no_nan(1.0, x)


@gradient("RGBToHSV")
def _rgb_to_hsv_grad(op, grad):
    r, g, b = (op.inputs[0][..., i] for i in range(3))
    s, v = op.outputs[0][..., 1], op.outputs[0][..., 2]
    dtype = r.dtype

    def number(condition):
        return math.cast(condition, dtype)

    # Ties go to the first channel.
    r_biggest = number((r >= b) & (r >= g))
    g_biggest = number((g > r) & (g >= b))
    b_biggest = number((b > r) & (b > g))
    r_smallest = number((r < b) & (r < g))
    g_smallest = number((g <= r) & (g < b))
    b_smallest = number((b <= r) & (b <= g))

    def saturation(x, biggest, smallest, others_smallest, others_biggest):
        """By channel x: as the largest one it divides, as the smallest one it is subtracted."""
        positive = number(x > 0)
        (s1, c1), (s2, c2) = others_smallest
        as_biggest = biggest * math.add(s1 * c1, s2 * c2) * _inverse(math.square(x))
        (b1, c1), (b2, c2) = others_biggest
        as_smallest = smallest * -1.0 * _inverse((b1 * c1) + (b2 * c2))
        return positive * math.add(as_biggest, as_smallest)

    ds_dr = saturation(r, r_biggest, r_smallest, ((g_smallest, g), (b_smallest, b)), ((g_biggest, g), (b_biggest, b)))
    ds_dg = saturation(g, g_biggest, g_smallest, ((r_smallest, r), (b_smallest, b)), ((r_biggest, r), (b_biggest, b)))
    ds_db = saturation(b, b_biggest, b_smallest, ((g_smallest, g), (r_smallest, r)), ((g_biggest, g), (r_biggest, r)))

    # Hue in degrees, in five cases by channel: the channel is the largest; another is the largest and this or the third
    # the smallest.

    def largest(x, biggest, p, q):
        return 60 * (number(x > 0) * biggest * -1 * (p - q) * _inverse(math.square(s)) * _inverse(math.square(v)))

    def smallest_itself(x, biggest, smallest, p, q, u, w):
        return 60 * (number(x > 0) * biggest * smallest * (p - q) * _inverse(math.square(u - w)))

    def between(x, biggest, smallest, u, w, sign):
        factor = number(x > 0) * biggest * smallest
        if sign < 0:
            factor = factor * -1
        return 60 * (factor * _inverse(u - w))

    def turn(*degrees):
        return functools.reduce(operator.add, degrees) / 360

    dh_dr = turn(
        largest(r, r_biggest, g, b),
        smallest_itself(g, g_biggest, r_smallest, b, g, r, g),
        between(g, g_biggest, b_smallest, g, b, -1),
        smallest_itself(b, b_biggest, r_smallest, b, g, b, r),
        between(b, b_biggest, g_smallest, b, g, 1),
    )
    dh_dg = turn(
        largest(g, g_biggest, b, r),
        smallest_itself(r, r_biggest, g_smallest, r, b, r, g),
        between(r, r_biggest, b_smallest, r, b, 1),
        smallest_itself(b, b_biggest, g_smallest, r, b, b, g),
        between(b, b_biggest, r_smallest, b, r, -1),
    )
    dh_db = turn(
        largest(b, b_biggest, r, g),
        smallest_itself(r, r_biggest, b_smallest, g, r, r, b),
        between(r, r_biggest, g_smallest, r, g, -1),
        smallest_itself(g, g_biggest, b_smallest, g, r, g, b),
        between(g, g_biggest, r_smallest, g, r, 1),
    )

    def by_channel(output, parts):
        return array.stack([grad[..., output] * part for part in parts], axis=-1)

    by_value = by_channel(2, [r_biggest, g_biggest, b_biggest])
    by_saturation = by_channel(1, [ds_dr, ds_dg, ds_db])
    by_hue = by_channel(0, [dh_dr, dh_dg, dh_db])
    return math.add(math.add(by_value, by_saturation), by_hue)
