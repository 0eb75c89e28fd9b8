"""The Inception networks as tables: one layer or mixed layer a line, in the order they are built.

`Conv2d_0b_3x3:128/2` is a convolution with 128 channels and stride 2; its window is in its name, unless `@3x3` gives another. `|` parts the
branches of a mixed layer, whose outputs are joined; `+` parts convolutions that see the same input and are joined within a branch.
"""

from __future__ import annotations

V1 = """
Conv2d_1a_7x7:64/2
MaxPool_2a_3x3/2
Conv2d_2b_1x1:64
Conv2d_2c_3x3:192
MaxPool_3a_3x3/2
Mixed_3b = Conv2d_0a_1x1:64 | Conv2d_0a_1x1:96 Conv2d_0b_3x3:128 | Conv2d_0a_1x1:16 Conv2d_0b_3x3:32 | MaxPool_0a_3x3 Conv2d_0b_1x1:32
Mixed_3c = Conv2d_0a_1x1:128 | Conv2d_0a_1x1:128 Conv2d_0b_3x3:192 | Conv2d_0a_1x1:32 Conv2d_0b_3x3:96 | MaxPool_0a_3x3 Conv2d_0b_1x1:64
MaxPool_4a_3x3/2
Mixed_4b = Conv2d_0a_1x1:192 | Conv2d_0a_1x1:96 Conv2d_0b_3x3:208 | Conv2d_0a_1x1:16 Conv2d_0b_3x3:48 | MaxPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_4c = Conv2d_0a_1x1:160 | Conv2d_0a_1x1:112 Conv2d_0b_3x3:224 | Conv2d_0a_1x1:24 Conv2d_0b_3x3:64 | MaxPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_4d = Conv2d_0a_1x1:128 | Conv2d_0a_1x1:128 Conv2d_0b_3x3:256 | Conv2d_0a_1x1:24 Conv2d_0b_3x3:64 | MaxPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_4e = Conv2d_0a_1x1:112 | Conv2d_0a_1x1:144 Conv2d_0b_3x3:288 | Conv2d_0a_1x1:32 Conv2d_0b_3x3:64 | MaxPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_4f = Conv2d_0a_1x1:256 | Conv2d_0a_1x1:160 Conv2d_0b_3x3:320 | Conv2d_0a_1x1:32 Conv2d_0b_3x3:128 | MaxPool_0a_3x3 Conv2d_0b_1x1:128
MaxPool_5a_2x2/2
Mixed_5b = Conv2d_0a_1x1:256 | Conv2d_0a_1x1:160 Conv2d_0b_3x3:320 | Conv2d_0a_1x1:32 Conv2d_0a_3x3:128 | MaxPool_0a_3x3 Conv2d_0b_1x1:128
Mixed_5c = Conv2d_0a_1x1:384 | Conv2d_0a_1x1:192 Conv2d_0b_3x3:384 | Conv2d_0a_1x1:48 Conv2d_0b_3x3:128 | MaxPool_0a_3x3 Conv2d_0b_1x1:128
"""

V2 = """
Conv2d_1a_7x7:64/2
MaxPool_2a_3x3/2
Conv2d_2b_1x1:64
Conv2d_2c_3x3:192
MaxPool_3a_3x3/2
Mixed_3b = Conv2d_0a_1x1:64 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:64 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_0c_3x3:96 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:32
Mixed_3c = Conv2d_0a_1x1:64 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_0c_3x3:96 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_4a = Conv2d_0a_1x1:128 Conv2d_1a_3x3:160/2 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_1a_3x3:96/2 | MaxPool_1a_3x3/2
Mixed_4b = Conv2d_0a_1x1:224 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 | Conv2d_0a_1x1:96 Conv2d_0b_3x3:128 Conv2d_0c_3x3:128 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:128
Mixed_4c = Conv2d_0a_1x1:192 | Conv2d_0a_1x1:96 Conv2d_0b_3x3:128 | Conv2d_0a_1x1:96 Conv2d_0b_3x3:128 Conv2d_0c_3x3:128 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:128
Mixed_4d = Conv2d_0a_1x1:160 | Conv2d_0a_1x1:128 Conv2d_0b_3x3:160 | Conv2d_0a_1x1:128 Conv2d_0b_3x3:160 Conv2d_0c_3x3:160 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:96
Mixed_4e = Conv2d_0a_1x1:96 | Conv2d_0a_1x1:128 Conv2d_0b_3x3:192 | Conv2d_0a_1x1:160 Conv2d_0b_3x3:192 Conv2d_0c_3x3:192 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:96
Mixed_5a = Conv2d_0a_1x1:128 Conv2d_1a_3x3:192/2 | Conv2d_0a_1x1:192 Conv2d_0b_3x3:256 Conv2d_1a_3x3:256/2 | MaxPool_1a_3x3/2
Mixed_5b = Conv2d_0a_1x1:352 | Conv2d_0a_1x1:192 Conv2d_0b_3x3:320 | Conv2d_0a_1x1:160 Conv2d_0b_3x3:224 Conv2d_0c_3x3:224 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:128
Mixed_5c = Conv2d_0a_1x1:352 | Conv2d_0a_1x1:192 Conv2d_0b_3x3:320 | Conv2d_0a_1x1:192 Conv2d_0b_3x3:224 Conv2d_0c_3x3:224 \
 | MaxPool_0a_3x3 Conv2d_0b_1x1:128
"""

V3 = """
Conv2d_1a_3x3:32/2
Conv2d_2a_3x3:32
Conv2d_2b_3x3:64 SAME
MaxPool_3a_3x3/2
Conv2d_3b_1x1:80
Conv2d_4a_3x3:192
MaxPool_5a_3x3/2
Mixed_5b = Conv2d_0a_1x1:64 | Conv2d_0a_1x1:48 Conv2d_0b_5x5:64 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_0c_3x3:96 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:32
Mixed_5c = Conv2d_0a_1x1:64 | Conv2d_0b_1x1:48 Conv_1_0c_5x5:64 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_0c_3x3:96 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_5d = Conv2d_0a_1x1:64 | Conv2d_0a_1x1:48 Conv2d_0b_5x5:64 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_0c_3x3:96 \
 | AvgPool_0a_3x3 Conv2d_0b_1x1:64
Mixed_6a = Conv2d_1a_1x1@3x3:384/2 | Conv2d_0a_1x1:64 Conv2d_0b_3x3:96 Conv2d_1a_1x1@3x3:96/2 | MaxPool_1a_3x3/2
Mixed_6b = Conv2d_0a_1x1:192 | Conv2d_0a_1x1:128 Conv2d_0b_1x7:128 Conv2d_0c_7x1:192 \
 | Conv2d_0a_1x1:128 Conv2d_0b_7x1:128 Conv2d_0c_1x7:128 Conv2d_0d_7x1:128 Conv2d_0e_1x7:192 | AvgPool_0a_3x3 Conv2d_0b_1x1:192
Mixed_6c = Conv2d_0a_1x1:192 | Conv2d_0a_1x1:160 Conv2d_0b_1x7:160 Conv2d_0c_7x1:192 \
 | Conv2d_0a_1x1:160 Conv2d_0b_7x1:160 Conv2d_0c_1x7:160 Conv2d_0d_7x1:160 Conv2d_0e_1x7:192 | AvgPool_0a_3x3 Conv2d_0b_1x1:192
Mixed_6d = Conv2d_0a_1x1:192 | Conv2d_0a_1x1:160 Conv2d_0b_1x7:160 Conv2d_0c_7x1:192 \
 | Conv2d_0a_1x1:160 Conv2d_0b_7x1:160 Conv2d_0c_1x7:160 Conv2d_0d_7x1:160 Conv2d_0e_1x7:192 | AvgPool_0a_3x3 Conv2d_0b_1x1:192
Mixed_6e = Conv2d_0a_1x1:192 | Conv2d_0a_1x1:192 Conv2d_0b_1x7:192 Conv2d_0c_7x1:192 \
 | Conv2d_0a_1x1:192 Conv2d_0b_7x1:192 Conv2d_0c_1x7:192 Conv2d_0d_7x1:192 Conv2d_0e_1x7:192 | AvgPool_0a_3x3 Conv2d_0b_1x1:192
Mixed_7a = Conv2d_0a_1x1:192 Conv2d_1a_3x3:320/2 | Conv2d_0a_1x1:192 Conv2d_0b_1x7:192 Conv2d_0c_7x1:192 Conv2d_1a_3x3:192/2 \
 | MaxPool_1a_3x3/2
Mixed_7b = Conv2d_0a_1x1:320 | Conv2d_0a_1x1:384 Conv2d_0b_1x3:384+Conv2d_0b_3x1:384 \
 | Conv2d_0a_1x1:448 Conv2d_0b_3x3:384 Conv2d_0c_1x3:384+Conv2d_0d_3x1:384 | AvgPool_0a_3x3 Conv2d_0b_1x1:192
Mixed_7c = Conv2d_0a_1x1:320 | Conv2d_0a_1x1:384 Conv2d_0b_1x3:384+Conv2d_0c_3x1:384 \
 | Conv2d_0a_1x1:448 Conv2d_0b_3x3:384 Conv2d_0c_1x3:384+Conv2d_0d_3x1:384 | AvgPool_0a_3x3 Conv2d_0b_1x1:192
"""
