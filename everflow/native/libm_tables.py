"""The constants of the C library's logarithm, sine and cosine in single precision (glibc's, from Arm's optimized
routines): `kernels/math/libm.py` evaluates them with numpy, `normals.py` in machine code.
"""

from __future__ import annotations

# 1 / c and log(c) for a c near the middle of each sixteenth of [0.7, 1.4).
INVERSES, LOGARITHMS = (
    [float.fromhex(number) for number in numbers.split()]
    for numbers in (
        """0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0 0x1.3c995b0b80385p+0
        0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0
        0x1.0953f419900a7p+0 0x1p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1
        0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1""",
        """-0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 -0x1.b31d8a68224e9p-3
        -0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3 -0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4
        -0x1.252f438e10c1ep-5 0x0p+0 0x1.aa5aa5df25984p-5 0x1.c5e53aa362eb4p-4
        0x1.526e57720db08p-3 0x1.bc2860d22477p-3 0x1.1058bc8a07ee1p-2 0x1.4043057b6ee09p-2""",
    )
)
# Of the logarithm, the sine and the cosine, from the constant on.
LOG, SINE, COSINE = (
    [float.fromhex(number) for number in numbers.split()]
    for numbers in (
        "-0x1.ffffef20a4123p-2 0x1.5575b0be00b6ap-2 -0x1.00ea348b88334p-2",
        "1 -0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13",
        "1 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16",
    )
)
