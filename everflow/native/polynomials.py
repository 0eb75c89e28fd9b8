"""Coefficients of minimax polynomials in double precision, from the constant on. Written by
`python -m tests.native.fit_polynomials`, which also tells what each of them approximates.
"""

EXP = (  # error 2^-61.7
    5.0e-1,
    1.6666666666666677e-1,
    4.1666666666666703e-2,
    8.3333333333213722e-3,
    1.3888888888865744e-3,
    1.9841269886865004e-4,
    2.4801587362926028e-5,
    2.7557243385865552e-6,
    2.7557240676064149e-7,
    2.5109349936380656e-8,
    2.0925089118192873e-9,
)
LOG = (  # error 2^-58.4
    6.666666666666737e-1,
    3.9999999999395049e-1,
    2.8571428747187745e-1,
    2.2222198039680223e-1,
    1.8183594042149642e-1,
    1.5313242211583166e-1,
    1.4804494741459651e-1,
)
