"""The Inception networks as tables: one layer or mixed layer a line, in the order they are built.

`Conv2d_0b_3x3:128/2` is a convolution with 128 channels and stride 2; its window is in its name, unless `@3x3` gives
another. A mixed layer has a form and the channels of its convolutions. In a form, `|` parts the branches, whose outputs
are joined; `+` parts convolutions that see the same input and are joined within a branch. Forms with a dash differ in a
name only.
"""

from __future__ import annotations

_SMALL = "Conv2d_0a_1x1:{} Conv2d_0b_3x3:{}"  # few channels first, then a larger window
_AVERAGES, _MAXIMA, _HALF = "AvgPool_0a_3x3 Conv2d_0b_1x1:{}", "MaxPool_0a_3x3 Conv2d_0b_1x1:{}", "MaxPool_1a_3x3/2"
_LONG = "Conv2d_0a_1x1:{} Conv2d_0b_1x7:{} Conv2d_0c_7x1:{}"  # a window's rows, then its columns

FORMS = {
    "v1": f"Conv2d_0a_1x1:{{}} | {_SMALL} | {_SMALL} | {_MAXIMA}",
    "v1-": f"Conv2d_0a_1x1:{{}} | {_SMALL} | Conv2d_0a_1x1:{{}} Conv2d_0a_3x3:{{}} | {_MAXIMA}",
    "v2": f"Conv2d_0a_1x1:{{}} | {_SMALL} | {_SMALL} Conv2d_0c_3x3:{{}} | {_AVERAGES}",
    "v2max": f"Conv2d_0a_1x1:{{}} | {_SMALL} | {_SMALL} Conv2d_0c_3x3:{{}} | {_MAXIMA}",
    "v2half": f"Conv2d_0a_1x1:{{}} Conv2d_1a_3x3:{{}}/2 | {_SMALL} Conv2d_1a_3x3:{{}}/2 | {_HALF}",
    "v3": f"Conv2d_0a_1x1:{{}} | Conv2d_0a_1x1:{{}} Conv2d_0b_5x5:{{}} | {_SMALL} Conv2d_0c_3x3:{{}} | {_AVERAGES}",
    "v3-": f"Conv2d_0a_1x1:{{}} | Conv2d_0b_1x1:{{}} Conv_1_0c_5x5:{{}} | {_SMALL} Conv2d_0c_3x3:{{}} | {_AVERAGES}",
    "v3half": f"Conv2d_1a_1x1@3x3:{{}}/2 | {_SMALL} Conv2d_1a_1x1@3x3:{{}}/2 | {_HALF}",
    "v3long": f"Conv2d_0a_1x1:{{}} | {_LONG} "
    f"| Conv2d_0a_1x1:{{}} Conv2d_0b_7x1:{{}} Conv2d_0c_1x7:{{}} Conv2d_0d_7x1:{{}} Conv2d_0e_1x7:{{}} | {_AVERAGES}",
    "v3last": f"Conv2d_0a_1x1:{{}} Conv2d_1a_3x3:{{}}/2 | {_LONG} Conv2d_1a_3x3:{{}}/2 | {_HALF}",
    "v3wide": "Conv2d_0a_1x1:{} | Conv2d_0a_1x1:{} Conv2d_0b_1x3:{}+Conv2d_0b_3x1:{} "
    f"| {_SMALL} Conv2d_0c_1x3:{{}}+Conv2d_0d_3x1:{{}} | {_AVERAGES}",
    "v3wide-": "Conv2d_0a_1x1:{} | Conv2d_0a_1x1:{} Conv2d_0b_1x3:{}+Conv2d_0c_3x1:{} "
    f"| {_SMALL} Conv2d_0c_1x3:{{}}+Conv2d_0d_3x1:{{}} | {_AVERAGES}",
}

_START = """
Conv2d_1a_7x7:64/2
MaxPool_2a_3x3/2
Conv2d_2b_1x1:64
Conv2d_2c_3x3:192
MaxPool_3a_3x3/2
"""

V1 = f"""{_START}
Mixed_3b = v1 64 96 128 16 32 32
Mixed_3c = v1 128 128 192 32 96 64
MaxPool_4a_3x3/2
Mixed_4b = v1 192 96 208 16 48 64
Mixed_4c = v1 160 112 224 24 64 64
Mixed_4d = v1 128 128 256 24 64 64
Mixed_4e = v1 112 144 288 32 64 64
Mixed_4f = v1 256 160 320 32 128 128
MaxPool_5a_2x2/2
Mixed_5b = v1- 256 160 320 32 128 128
Mixed_5c = v1 384 192 384 48 128 128
"""

V2 = f"""{_START}
Mixed_3b = v2 64 64 64 64 96 96 32
Mixed_3c = v2 64 64 96 64 96 96 64
Mixed_4a = v2half 128 160 64 96 96
Mixed_4b = v2 224 64 96 96 128 128 128
Mixed_4c = v2 192 96 128 96 128 128 128
Mixed_4d = v2 160 128 160 128 160 160 96
Mixed_4e = v2 96 128 192 160 192 192 96
Mixed_5a = v2half 128 192 192 256 256
Mixed_5b = v2 352 192 320 160 224 224 128
Mixed_5c = v2max 352 192 320 192 224 224 128
"""

V3 = """
Conv2d_1a_3x3:32/2
Conv2d_2a_3x3:32
Conv2d_2b_3x3:64 SAME
MaxPool_3a_3x3/2
Conv2d_3b_1x1:80
Conv2d_4a_3x3:192
MaxPool_5a_3x3/2
Mixed_5b = v3 64 48 64 64 96 96 32
Mixed_5c = v3- 64 48 64 64 96 96 64
Mixed_5d = v3 64 48 64 64 96 96 64
Mixed_6a = v3half 384 64 96 96
Mixed_6b = v3long 192 128 128 192 128 128 128 128 192 192
Mixed_6c = v3long 192 160 160 192 160 160 160 160 192 192
Mixed_6d = v3long 192 160 160 192 160 160 160 160 192 192
Mixed_6e = v3long 192 192 192 192 192 192 192 192 192 192
Mixed_7a = v3last 192 320 192 192 192 192
Mixed_7b = v3wide 320 384 384 384 448 384 384 384 192
Mixed_7c = v3wide- 320 384 384 384 448 384 384 384 192
"""
