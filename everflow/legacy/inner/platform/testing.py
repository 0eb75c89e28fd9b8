"""Names that programs take from inside TensorFlow's modules `platform.googletest`, `platform.benchmark` and
`framework.test_util`.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

import itertools
from typing import Any

from absl.testing.absltest import (
    TEST_SRCDIR,
    TEST_TMPDIR,
    SkipTest,
    TempFileCleanup,
    TestLoader,
    expectedFailure,
    expectedFailureIf,
    get_default_test_srcdir,
    get_default_test_tmpdir,
    run_tests,
    skip,
    skipIf,
    skipThisClass,
    skipUnless,
)
from absl.testing.absltest import main as g_main

from everflow.test.benchmark import GLOBAL_BENCHMARK_REGISTRY, run_benchmarks
from everflow.test.benchmark import Benchmark as TensorFlowBenchmark
from everflow.test.benchmark import report_benchmark as _global_report_benchmark
from everflow.test.benchmark import run_benchmarks as _run_benchmarks
from everflow.test.environment import get_temp_dir as GetTempDir
from everflow.test.environment import main as benchmarks_main
from everflow.test.environment import unused_port as pick_unused_port

# Where a test program writes down what its benchmarks measured.
TEST_REPORTER_TEST_ENV = "TEST_REPORT_FILE_PREFIX"
OVERRIDE_GLOBAL_THREADPOOL = "TF_OVERRIDE_GLOBAL_THREADPOOL"


def StatefulSessionAvailable() -> bool:
    """Whether sessions may outlive a test program: they don't."""
    return False


def _combine_named_parameters(**kwargs: Any) -> list[dict[str, Any]]:
    """Every combination of parameters of which each has a list of values, or one, as dictionaries sorted by name."""
    choices = [
        [(key, value) for value in (values if isinstance(values, list) else [values])]
        for key, values in sorted(kwargs.items())
    ]
    return [dict(chosen) for chosen in itertools.product(*choices)]
