"""Where sliding windows land."""

import itertools

import pytest

from everflow.framework.windows import parse_format, slide


@pytest.mark.parametrize(("size", "window", "stride"), list(itertools.product([0, 1, 5, 8], [1, 2, 3], [1, 2, 3])))
@pytest.mark.parametrize("dilation", [1, 2])
def test_windows_lie_inside_of_what_was_padded(size, window, stride, dilation):
    extent = (window - 1) * dilation + 1
    same = slide(size, window, stride, "SAME", dilation)
    assert same.output == -(-size // stride)
    assert 0 <= same.after - same.before <= 1  # what is odd goes behind
    if same.output:
        padded = size + same.before + same.after
        assert (same.output - 1) * stride + extent <= padded  # the last one fits,
        assert same.before + same.after == 0 or padded == (same.output - 1) * stride + extent  # and no cell is too many
    if size + stride >= extent:
        valid = slide(size, window, stride, "VALID", dilation)
        assert (valid.before, valid.after) == (0, 0)
        starts = [i for i in range(0, size, stride) if i + extent <= size]
        assert valid.output == len(starts)


def test_paddings_may_be_given():
    assert slide(5, 2, 1, "EXPLICIT", 2, (3, 1)) == (7, 3, 1)
    assert slide(5, 2, 1, "VALID", 2, (3, 1)) == (3, 0, 0)  # given, but not asked for


def test_windows_that_can_not_be():
    with pytest.raises(ValueError, match="negative"):
        slide(2, 5, 1, "VALID")
    with pytest.raises(ValueError, match="Stride must be > 0"):
        slide(2, 1, 0, "SAME")


@pytest.mark.parametrize(
    ("text", "channel", "spatial"),
    [("NHWC", 3, (1, 2)), ("NCHW", 1, (2, 3)), ("NDHWC", 4, (1, 2, 3)), ("NCDHW", 1, (2, 3, 4)), ("NWC", 2, (1,))],
)
def test_formats_say_where_things_are(text, channel, spatial):
    found = parse_format(text)
    assert found.channel_axis == channel == text.index("C") and tuple(found.spatial_axes) == spatial
    assert "".join(found.arrange("N", found.spatial_of(text), "C")) == text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((5, 3, 2, "SAME"), (3, 1, 1)), ((6, 3, 2, "SAME"), (3, 0, 1)), ((5, 3, 2, "VALID"), (2, 0, 0))],
)
def test_windows_of_well_known_sizes(arguments, expected):
    assert slide(*arguments) == expected
