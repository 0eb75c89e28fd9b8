"""tf.test: a TestCase for programs that use tensors, gradients checked by numbers, and what this installation can do."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from unittest import mock

from everflow.test.benchmark import Benchmark, benchmark_config
from everflow.test.environment import (
    create_local_cluster,
    get_temp_dir,
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_gpu_available,
    main,
    test_src_dir_path,
)
from everflow.test.gradient_checker import compute_gradient, compute_gradient_error
from everflow.test.graph_comparison import assert_equal_graph_def
from everflow.test.stubs import StubOutForTesting
from everflow.test.test_case import TestCase
