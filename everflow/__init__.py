"""tf.*: TensorFlow 1.15's programming model. `import everflow as tf`.

Names on `tf` itself are listed at the end, by family; namespaces `tf.X` are the modules `everflow/X`. Both are loaded
when first touched: importing everflow loads only what makes tensors behave, and never torch.
"""

# ruff: noqa: F401  The names are the purpose of this file.

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from everflow.platform.spinning import choose_spinning as _choose_spinning

_choose_spinning()  # before anything loads torch

# What every graph needs: constants, the operators of tensors, and sessions.
import everflow.ops.array.slicing
import everflow.ops.sparse.indexed_slices
import everflow.ops.math.binary
import everflow.runtime.session
from everflow.framework.lazy_names import add_names as _add_names
from everflow.framework.lazy_names import imported_names as _imported_names
from everflow.platform.namespaces import make_namespace as _make_namespace
from everflow.runtime.session import register_target as _register_target
from everflow.version import (
    COMPILER_VERSION,
    CXX11_ABI_FLAG,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    MONOLITHIC_BUILD,
    VERSION,
)

# Sessions on clusters: who needs none needs no gRPC.
_register_target("grpc://", "everflow.cluster.client", "RemoteExecutor")

# Names of namespaces that come from floors above them: recurrent networks, layers over feature columns, Estimators of
# models.
_add_names("everflow.nn", rnn_cell="everflow.rnn.rnn_cell:")
_add_names(
    "everflow.nn",
    **dict.fromkeys(
        """
        bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn static_state_saving_rnn
        """.split(),
        "everflow.rnn",
    ),
)
_add_names("everflow.keras", estimator="everflow.estimator.keras_models:")
_add_names("everflow.keras.layers", DenseFeatures="everflow.feature_column.features_layers")
_add_names("everflow.distribute.experimental", TPUStrategy="everflow.tpu.strategy")
_add_names("everflow.keras.experimental", SequenceFeatures="everflow.feature_column.features_layers")


__version__ = VERSION
__git_version__ = GIT_VERSION
__compiler_version__ = COMPILER_VERSION
__cxx11_abi_flag__ = CXX11_ABI_FLAG
__monolithic_build__ = MONOLITHIC_BUILD

newaxis = None

# The tf.X namespaces: each is a module of that name in this package, loaded when first touched.
_NAMESPACES = frozenset(
    """
    app audio autograph bitwise compat config contrib data debugging distribute distributions dtypes errors estimator experimental
    feature_column flags gfile graph_util image initializers io keras layers linalg lite logging lookup losses manip math metrics nest nn
    profiler python_io quantization queue ragged random raw_ops resource_loader saved_model sets signal sparse spectral strings summary
    sysconfig test tpu train user_ops version xla
    """.split()
)
# Packages that TensorFlow's module tree has and programs reach as attributes; they exist once `import tensorflow`
# is served.
_TENSORFLOW_PACKAGES = frozenset(["core", "examples", "python", "tools"])


def __getattr__(name: str):
    if name in _NAMESPACES and name not in _absent_namespaces():
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _TENSORFLOW_PACKAGES:
        if "tensorflow" in _sys.modules and f"{__name__}.legacy.paths" in _sys.modules:
            return _importlib.import_module(f"tensorflow.{name}")
    elif name == "__all__":
        return [public for public in __dir__() if not public.startswith("_") and public not in _absent_namespaces()]
    elif name in _imported_names(__file__):
        module, original = _imported_names(__file__)[name]
        value = getattr(_importlib.import_module(module), original)
        globals()[name] = value
        return value
    raise AttributeError(name)  # said in full by `platform/namespaces.py`


def _absent_namespaces() -> set[str]:
    from pkgutil import iter_modules

    return _NAMESPACES - {module.name for module in iter_modules(__path__)}


def __dir__():
    return sorted({*globals(), *_NAMESPACES, *_imported_names(__file__)})


_make_namespace(_sys.modules[__name__])


def load_ipython_extension(shell):
    """What `%load_ext everflow` calls."""
    from everflow.notebook import magics  # only notebooks need it

    magics.load(shell)


def _show_in_notebooks() -> None:
    """Where IPython runs, it shows graphs, tensors and signatures as pictures and tables."""
    shell = _sys.modules["IPython"].get_ipython() if "IPython" in _sys.modules else None
    if shell is not None:
        from everflow.notebook import displays  # only notebooks need it

        displays.register(shell)


_show_in_notebooks()

# The names on `tf` itself: to add one, add it to an import here. Nothing of this is imported when a program runs:
# `__getattr__` reads which module has a name, and loads that module when the name is first touched. Type checkers and
# editors take it as it stands.
if _TYPE_CHECKING:
    # --- messages
    from everflow.protos.attr_value_pb2 import AttrValue, NameAttrList
    from everflow.protos.config_pb2 import (
        ConfigProto,
        GPUOptions,
        GraphOptions,
        OptimizerOptions,
        RunMetadata,
        RunOptions,
    )
    from everflow.protos.event_pb2 import Event, LogMessage, SessionLog
    from everflow.protos.graph_pb2 import GraphDef
    from everflow.protos.meta_graph_pb2 import MetaGraphDef, TensorInfo
    from everflow.protos.node_def_pb2 import NodeDef
    from everflow.protos.summary_pb2 import HistogramProto, Summary, SummaryMetadata

    # --- types and shapes
    from everflow.framework.dtypes import (
        DType,
        QUANTIZED_DTYPES,
        as_dtype,
        bfloat16,
        bool,
        complex128,
        complex64,
        double,
        float16,
        float32,
        float64,
        half,
        int16,
        int32,
        int64,
        int8,
        qint16,
        qint32,
        qint8,
        quint16,
        quint8,
        resource,
        string,
        uint16,
        uint32,
        uint64,
        uint8,
        variant,
    )

    # --- graph: Graph, Operation, Tensor, scopes, collections, seeds, devices
    from everflow.framework.composites import (
        IndexedSlices,
        IndexedSlicesSpec,
        SparseTensor,
        SparseTensorSpec,
        SparseTensorValue,
    )
    from everflow.framework.conversion import (
        convert_to_tensor,
        convert_to_tensor_or_indexed_slices,
        convert_to_tensor_or_sparse_tensor,
        register_tensor_conversion_function,
    )
    from everflow.framework.devices import DeviceSpec
    from everflow.framework.graph import Graph
    from everflow.framework.graph_keys import GraphKeys
    from everflow.framework.importer import import_graph_def
    from everflow.framework.operation import Operation, Tensor
    from everflow.framework.registry import NotDifferentiable, RegisterGradient
    from everflow.framework.scopes import (
        add_to_collection,
        add_to_collections,
        colocate_with,
        container,
        control_dependencies,
        device,
        executing_eagerly,
        get_collection,
        get_collection_ref,
        drawn_graph as get_default_graph,
        init_scope,
        name_scope,
        op_scope,
        reset_default_graph,
    )
    from everflow.framework.seeds import get_seed, set_random_seed
    from everflow.framework.shapes import Dimension, TensorShape
    from everflow.framework.static_values import get_static_value, is_tensor
    from everflow.framework.tensor_values import make_ndarray, make_tensor_proto
    from everflow.framework.type_specs import TensorSpec, TypeSpec
    from everflow.framework.registry import NotDifferentiable as NoGradient, NotDifferentiable as no_gradient
    from everflow.platform.load_library import load_file_system_library, load_library, load_op_library
    from everflow.framework.shapes import dimension_at_index, dimension_value
    from everflow.ops.batching import nondifferentiable_batch_function
    from everflow.ops.control_flow.functional_branches import switch_case
    from everflow.ops.control_flow.switches import (
        control_flow_v2_enabled,
        disable_control_flow_v2,
        enable_control_flow_v2,
    )
    from everflow.ops.functions.traced import function
    from everflow.ops.functions.wrapped import wrap_function
    from everflow.ops.gradients.tape import GradientTape
    from everflow.eager.mode import disable_eager_execution, enable_eager_execution
    from everflow.eager.py_function import py_function
    from everflow.eager.v2_behavior import disable_v2_behavior, enable_v2_behavior
    from everflow.framework.shapes import disable_v2_tensorshape, enable_v2_tensorshape
    from everflow.ops.math.equality import disable_tensor_equality, enable_tensor_equality

    # --- session
    from everflow.framework.errors import OpError
    from everflow.framework.scopes import get_default_session
    from everflow.ops.queues.session_tensors import delete_session_tensor, get_session_handle, get_session_tensor
    from everflow.runtime.session import InteractiveSession, Session

    # --- gradients
    from everflow.ops.gradients.custom import custom_gradient, grad_pass_through, recompute_grad
    from everflow.data.optional import OptionalSpec
    from everflow.ops.io.printing import timestamp
    from everflow.ops.gradients.reverse import AggregationMethod, UnconnectedGradients, gradients
    from everflow.ops.gradients.hessians import hessians

    # --- variables
    from everflow.ops.variables.partitioned import (
        create_partitioned_variables,
        fixed_size_partitioner,
        min_max_variable_partitioner,
        variable_axis_size_partitioner,
    )
    from everflow.ops.variables.assign import (
        assign,
        assign_add,
        assign_sub,
        batch_scatter_update,
        count_up_to,
        scatter_add,
        scatter_div,
        scatter_max,
        scatter_min,
        scatter_mul,
        scatter_nd_add,
        scatter_nd_sub,
        scatter_nd_update,
        scatter_sub,
        scatter_update,
    )
    from everflow.ops.variables.template import make_template
    from everflow.ops.variables.scope import (
        AUTO_REUSE,
        VariableScope,
        get_local_variable,
        get_variable,
        get_variable_scope,
        no_regularizer,
        variable_creator_scope,
        variable_op_scope,
        variable_scope,
    )
    from everflow.ops.variables.module import Module
    from everflow.ops.variables.variable import (
        Variable,
        VariableAggregation,
        VariableSynchronization,
        all_variables,
        assert_variables_initialized,
        disable_resource_variables,
        enable_resource_variables,
        global_variables,
        global_variables_initializer,
        initialize_all_variables,
        initialize_local_variables,
        initialize_variables,
        is_variable_initialized,
        local_variables,
        local_variables_initializer,
        model_variables,
        moving_average_variables,
        report_uninitialized_variables,
        resource_variables_enabled,
        trainable_variables,
        variables_initializer,
    )

    # --- arrays: constants, shapes, slicing, joining
    from everflow.ops.array.constants import constant, placeholder, placeholder_with_default
    from everflow.ops.array import (
        argsort,
        batch_gather,
        batch_to_space,
        batch_to_space_nd,
        bitcast,
        boolean_mask,
        broadcast_dynamic_shape,
        broadcast_static_shape,
        broadcast_to,
        concat,
        depth_to_space,
        diag,
        diag_part,
        dynamic_partition,
        dynamic_stitch,
        edit_distance,
        ensure_shape,
        expand_dims,
        extract_image_patches,
        extract_volume_patches,
        fill,
        gather,
        gather_nd,
        guarantee_const,
        identity,
        identity_n,
        invert_permutation,
        matrix_band_part,
        matrix_diag,
        matrix_diag_part,
        matrix_set_diag,
        matrix_transpose,
        meshgrid,
        one_hot,
        ones,
        ones_like,
        pad,
        parallel_stack,
        quantized_concat,
        rank,
        repeat,
        required_space_to_batch_paddings,
        reshape,
        reverse,
        reverse as reverse_v2,
        reverse_sequence,
        roll,
        scatter_nd,
        searchsorted,
        sequence_mask,
        setdiff1d,
        shape,
        shape_n,
        size,
        slice_ as slice,
        sort,
        space_to_batch,
        space_to_batch_nd,
        space_to_depth,
        split,
        squeeze,
        stack,
        stop_gradient,
        strided_slice,
        tensor_scatter_add,
        tensor_scatter_add as tensor_scatter_nd_add,
        tensor_scatter_sub,
        tensor_scatter_sub as tensor_scatter_nd_sub,
        tensor_scatter_update,
        tensor_scatter_update as tensor_scatter_nd_update,
        tile,
        transpose,
        unique,
        unique_with_counts,
        unravel_index,
        unstack,
        where,
        where_v2,
        zeros,
        zeros_like,
    )

    # --- math
    from everflow.ops.math import (
        abs,
        accumulate_n,
        acos,
        acosh,
        add,
        add_n,
        angle,
        arg_max,
        arg_min,
        argmax,
        argmin,
        asin,
        asinh,
        atan,
        atan2,
        atanh,
        bincount,
        cast,
        ceil,
        complex,
        conj,
        cos,
        cosh,
        count_nonzero,
        cross,
        cumprod,
        cumsum,
        digamma,
        div,
        div_no_nan,
        divide,
        einsum,
        equal,
        erf,
        erfc,
        exp,
        expm1,
        floor,
        floor_div,
        floordiv,
        floormod,
        greater,
        greater_equal,
        histogram_fixed_width,
        histogram_fixed_width_bins,
        igamma,
        igammac,
        imag,
        is_finite,
        is_inf,
        is_nan,
        less,
        less_equal,
        lgamma,
        lin_space,
        linspace,
        log,
        log1p,
        log_sigmoid,
        logical_and,
        logical_not,
        logical_or,
        logical_xor,
        matmul,
        maximum,
        minimum,
        mod,
        multiply,
        negative,
        not_equal,
        polygamma,
        pow,
        range,
        real,
        realdiv,
        reciprocal,
        reduce_all,
        reduce_any,
        reduce_logsumexp,
        reduce_max,
        reduce_mean,
        reduce_min,
        reduce_prod,
        reduce_sum,
        rint,
        round,
        rsqrt,
        saturate_cast,
        scalar_mul,
        segment_max,
        segment_mean,
        segment_min,
        segment_prod,
        segment_sum,
        sigmoid,
        sign,
        sin,
        sinh,
        sparse_matmul,
        sparse_segment_mean,
        sparse_segment_sqrt_n,
        sparse_segment_sum,
        sqrt,
        square,
        squared_difference,
        subtract,
        tan,
        tanh,
        tensordot,
        to_bfloat16,
        to_complex128,
        to_complex64,
        to_double,
        to_float,
        to_int32,
        to_int64,
        truediv,
        truncatediv,
        truncatemod,
        unsorted_segment_max,
        unsorted_segment_mean,
        unsorted_segment_min,
        unsorted_segment_prod,
        unsorted_segment_sqrt_n,
        unsorted_segment_sum,
        zeta,
    )
    from everflow.ops.checks.values import (
        add_check_numerics_ops,
        assert_equal,
        assert_greater,
        assert_greater_equal,
        assert_less,
        assert_less_equal,
        assert_near,
        assert_negative,
        assert_non_negative,
        assert_non_positive,
        assert_none_equal,
        assert_positive,
        check_numerics,
        is_non_decreasing,
        is_numeric_tensor,
        is_strictly_increasing,
        verify_tensor_all_finite,
    )
    from everflow.ops.checks.shapes import (
        assert_integer,
        assert_proper_iterable,
        assert_rank,
        assert_rank_at_least,
        assert_rank_in,
        assert_same_float_dtype,
        assert_scalar,
        assert_type,
    )
    from everflow.ops.math.clip import (
        clip_by_average_norm,
        clip_by_global_norm,
        clip_by_norm,
        clip_by_value,
        global_norm,
    )
    from everflow.ops.quantization import (
        dequantize,
        fake_quant_with_min_max_args,
        fake_quant_with_min_max_args_gradient,
        fake_quant_with_min_max_vars,
        fake_quant_with_min_max_vars_gradient,
        fake_quant_with_min_max_vars_per_channel,
        fake_quant_with_min_max_vars_per_channel_gradient,
        quantize,
        quantize_v2,
    )
    from everflow.ops.math.confusion_matrix import confusion_matrix
    from everflow.ops.math.special import (
        betainc,
        lbeta,
    )

    # --- linear algebra
    from everflow.ops.linalg.decompositions import (
        cholesky,
        cholesky_solve,
        eye,
        matrix_determinant,
        matrix_inverse,
        matrix_solve,
        matrix_solve_ls,
        matrix_triangular_solve,
        qr,
        self_adjoint_eig,
        self_adjoint_eigvals,
        svd,
        trace,
    )
    from everflow.ops.linalg.functions import matrix_square_root
    from everflow.ops.linalg.norms import norm
    from everflow.ops.math.fft import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

    # --- random
    from everflow.ops.random.distributions import (
        multinomial,
        random_crop,
        random_gamma,
        random_normal,
        random_poisson,
        random_shuffle,
        random_uniform,
        truncated_normal,
    )

    # --- nn

    # --- control flow, functional, checks and asserts, TensorArray, py_func
    from everflow.ops.control_flow import Assert, case, cond, group, no_op, tuple, while_loop
    from everflow.ops.control_flow.maps import foldl, foldr, map_fn, scan
    from everflow.ops.parallel_for.loops import vectorized_map
    from everflow.ops.io.printing import Print, print
    from everflow.ops.functions.python import numpy_function, py_func
    from everflow.ops.tensor_arrays.tensor_array import TensorArray
    from everflow.ops.tensor_arrays.spec import TensorArraySpec

    # --- sparse and ragged
    from everflow.ops.ragged import RaggedTensor, RaggedTensorSpec
    from everflow.ops.sparse.functions import (
        sparse_add,
        sparse_concat,
        sparse_fill_empty_rows,
        sparse_mask,
        sparse_maximum,
        sparse_merge,
        sparse_minimum,
        sparse_placeholder,
        sparse_reduce_max,
        sparse_reduce_max_sparse,
        sparse_reduce_sum,
        sparse_reduce_sum_sparse,
        sparse_reorder,
        sparse_reset_shape,
        sparse_reshape,
        sparse_retain,
        sparse_slice,
        sparse_softmax,
        sparse_split,
        sparse_tensor_dense_matmul,
        sparse_tensor_to_dense,
        sparse_to_dense,
        sparse_to_indicator,
        sparse_transpose,
    )
    from everflow.ops.sparse.serialize import deserialize_many_sparse, serialize_many_sparse, serialize_sparse

    # --- strings
    from everflow.ops.strings.text import (
        as_string,
        decode_base64,
        encode_base64,
        fingerprint,
        reduce_join,
        regex_replace,
        string_join,
        string_split,
        string_strip,
        string_to_hash_bucket,
        string_to_hash_bucket_fast,
        string_to_hash_bucket_strong,
        string_to_number,
        substr,
    )

    # --- images

    # --- files, parsing, readers
    from everflow.ops.io.files import matching_files, read_file, write_file
    from everflow.ops.io.parsing import (
        decode_compressed,
        decode_csv,
        decode_json_example,
        decode_raw,
        parse_tensor,
        serialize_tensor,
    )
    from everflow.ops.io.examples import (
        FixedLenFeature,
        FixedLenSequenceFeature,
        SparseFeature,
        VarLenFeature,
        parse_example,
        parse_single_example,
        parse_single_sequence_example,
    )
    from everflow.ops.io.readers import (
        FixedLengthRecordReader,
        IdentityReader,
        LMDBReader,
        ReaderBase,
        TextLineReader,
        TFRecordReader,
        WholeFileReader,
    )

    # --- queues, barriers, accumulators, tables
    from everflow.ops.queues.accumulators import (
        ConditionalAccumulator,
        ConditionalAccumulatorBase,
        SparseConditionalAccumulator,
    )
    from everflow.ops.variables.critical_section import CriticalSection
    from everflow.ops.queues.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
    from everflow.ops.lookup.static import initialize_all_tables, tables_initializer

    # --- initializers
    from everflow.ops.variables.initializers import (
        constant_initializer,
        glorot_normal_initializer,
        glorot_uniform_initializer,
        ones_initializer,
        orthogonal_initializer,
        random_normal_initializer,
        random_uniform_initializer,
        truncated_normal_initializer,
        uniform_unit_scaling_initializer,
        variance_scaling_initializer,
        zeros_initializer,
    )

    # --- eager and functions
    from everflow.platform.logging import get_logger
