# Made by `make stubs`.

from everflow.signal import dct as dct
from everflow import fft as fft
from everflow import fft2d as fft2d
from everflow import fft3d as fft3d
from everflow.signal import idct as idct
from everflow import ifft as ifft
from everflow import ifft2d as ifft2d
from everflow import ifft3d as ifft3d
from everflow.signal import irfft as irfft
from everflow.signal import irfft2d as irfft2d
from everflow.signal import irfft3d as irfft3d
from everflow.signal import rfft as rfft
from everflow.signal import rfft2d as rfft2d
from everflow.signal import rfft3d as rfft3d
