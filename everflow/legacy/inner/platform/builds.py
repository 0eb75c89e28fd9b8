"""tensorflow.python.platform.build_info: what this was built with."""

is_cuda_build = is_rocm_build = False
