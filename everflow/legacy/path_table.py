"""Paths into TensorFlow's own tree that programs import, and the modules that serve them."""

from __future__ import annotations

# A row: the folder below `tensorflow`, the modules in it, and the everflow modules that serve them, best first. `.` is
# tf itself, and a `*` stands for any letters in a module's name. To serve a new path, or to add a source for one, edit
# a row; a test looks whether the sources are there.
TABLE = """
python                client compiler data eager feature_column framework keras layers lib ops platform saved_model summary tools \
                      training util                      : .
python                user_ops                           : user_ops
python.user_ops       user_ops                           : user_ops legacy.gen_ops
python                debug                              : debug
python                estimator                          : estimator
python                pywrap_tensorflow pywrap_tensorflow_internal : train errors . legacy.inner.pywrap_tensorflow legacy.inner.eager.execute
python                tf2                                : eager.version_mark
python                autograph                          : autograph
python.autograph.converters arg_defaults                 : legacy.inner.autograph.conversions.arg_defaults
python.autograph.converters asserts                      : legacy.inner.autograph.conversions.asserts
python.autograph.converters break_statements             : legacy.inner.autograph.conversions.break_statements
python.autograph.converters call_trees                   : legacy.inner.autograph.conversions.call_trees
python.autograph.converters conditional_expressions      : legacy.inner.autograph.conversions.conditional_expressions
python.autograph.converters continue_statements          : legacy.inner.autograph.conversions.continue_statements
python.autograph.converters control_flow                 : legacy.inner.autograph.conversions.control_flow
python.autograph.converters directives                   : legacy.inner.autograph.conversions.directives
python.autograph.converters function_scopes              : legacy.inner.autograph.conversions.function_scopes
python.autograph.converters list_comprehensions          : legacy.inner.autograph.conversions.list_comprehensions
python.autograph.converters lists                        : legacy.inner.autograph.conversions.lists
python.autograph.converters logical_expressions          : legacy.inner.autograph.conversions.logical_expressions
python.autograph.converters return_statements            : legacy.inner.autograph.conversions.return_statements
python.autograph.converters slices                       : legacy.inner.autograph.conversions.slices
python.autograph.core ag_ctx config config_lib function_wrappers : legacy.inner.autograph.function_contexts
python.autograph.core converter                          : legacy.inner.autograph.converters ops.autograph.options ops.autograph.features
python.autograph.core converter_testing                  : legacy.inner.autograph.converter_testing
python.autograph.core naming                             : legacy.inner.autograph.names
python.autograph.core unsupported_features_checker       : legacy.inner.autograph.unsupported_features
python.autograph.impl api                                : legacy.inner.autograph.impl.api
python.autograph.impl conversion                         : legacy.inner.autograph.impl.conversion
python.autograph.lang directives                         : legacy.inner.autograph.lang.directives
python.autograph.lang special_functions                  : legacy.inner.autograph.lang.special_functions
python.autograph      operators                          : legacy.inner.autograph.operators ops.autograph.operators
python.autograph.operators control_flow                  : legacy.inner.autograph.operators.control_flow
python.autograph.operators data_structures               : legacy.inner.autograph.operators.data_structures
python.autograph.operators exceptions                    : legacy.inner.autograph.operators.exceptions
python.autograph.operators logical                       : legacy.inner.autograph.operators.logical
python.autograph.operators py_builtins                   : legacy.inner.autograph.operators.py_builtins
python.autograph.operators slices                        : legacy.inner.autograph.operators.slices
python.autograph.operators symbols                       : legacy.inner.autograph.operators.symbols
python.autograph.operators special_values                : legacy.inner.autograph.operators.special_values
python.autograph      utils                              : legacy.inner.autograph.utils ops.autograph
python.autograph.utils ag_logging                        : legacy.inner.autograph.utils.verbosity
python.autograph.utils testing                           : legacy.inner.autograph.utils.testing
python.autograph.utils type_check                        : legacy.inner.autograph.utils.type_check
python.autograph.utils context_managers misc py_func     : legacy.inner.autograph.utils.functions
python.autograph.utils tensors tensor_list               : legacy.inner.autograph.utils.tensors
python.autograph.pyct anno                               : legacy.inner.autograph.annotations
python.autograph.pyct ast_util                           : legacy.inner.autograph.tree_tools
python.autograph.pyct cfg                                : legacy.inner.autograph.flow_graphs
python.autograph.pyct compiler                           : legacy.inner.autograph.compiling
python.autograph.pyct inspect_utils parser               : legacy.inner.autograph.sources
python.autograph.pyct origin_info                        : legacy.inner.autograph.origins
python.autograph.pyct pretty_printer                     : legacy.inner.autograph.tree_text
python.autograph.pyct qual_names                         : legacy.inner.autograph.names
python.autograph.pyct.testing basic_definitions          : legacy.inner.autograph.testing.basic_definitions
python.autograph.pyct.testing decorators                 : legacy.inner.autograph.testing.decorators
python.autograph.pyct templates                          : legacy.inner.autograph.templates
python.autograph.pyct transformer                        : legacy.inner.autograph.walking
python.autograph.pyct.common_transformers anf            : legacy.inner.autograph.normal_form
python.autograph.pyct.static_analysis activity annos     : legacy.inner.autograph.activity
python.autograph.pyct.static_analysis liveness           : legacy.inner.autograph.liveness
python.autograph.pyct.static_analysis reaching_definitions : legacy.inner.autograph.definitions
python.client         session                            : runtime.session runtime.fetches . legacy.inner.session
python.client         device_lib                         : runtime.device*
python.client         timeline                           : runtime.timeline
python.compat         compat v2_compat                   : compat platform.compat .

python.data           .                                  : data
python.data           util experimental                  : data .
python.data.ops       dataset_ops iterator_ops readers optional_ops multi_device_iterator_ops : data data.experimental data.* \
                                                           legacy.inner.data.datasets legacy.inner.data.experimental
python.data.ops       multi_device_iterator_ops          : data.multi_device
python.data.util      nest                               : legacy.inner.data.nest
python.data.util      options                            : legacy.inner.data.options
python.data.util      convert random_seed traverse                   : legacy.inner.data.datasets
python.data.util      sparse                             : legacy.inner.data.sparse
python.data.util      structure                          : legacy.inner.data.structure data.structure
python.data.kernel_tests test_base                       : legacy.inner.data.testing.datasets
python.data.benchmarks benchmark_base                    : legacy.inner.data.testing.benchmarks
python.data.experimental.kernel_tests reader_dataset_ops_test_base : legacy.inner.data.testing.readers
python.data.experimental.kernel_tests stats_dataset_test_base : legacy.inner.data.testing.stats
python.data.experimental.kernel_tests.serialization dataset_serialization_test_base : legacy.inner.data.testing.serialization
python.kernel_tests.random util                           : legacy.inner.random_testing
python.kernel_tests.signal test_util                      : legacy.inner.ops.testing.optimized_graphs
python.data.experimental ops                             : data.experimental
python.data.experimental.ops snapshot                    : data.experimental.snapshots legacy.inner.data.experimental
python.data.experimental.ops stats_aggregator            : legacy.inner.data.stats_aggregator
python.data.experimental.ops cardinality matching_files sleep : legacy.inner.data.datasets data.experimental.sources
python.data.experimental.ops map_defun                   : legacy.inner.data.map_defun
python.data.experimental.ops distribute                  : data.experimental.distribution
python.data.experimental.ops batching counter enumerate_ops error_ops get_single_element grouping interleave_ops iterator_ops \
                      optimization parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops stats_ops \
                      take_while_ops threadpool unique writers : data.experimental data.* \
                                                           data.experimental.* legacy.inner.data.datasets legacy.inner.data.experimental
python.compiler       xla                                : xla
python.compiler.tensorrt trt_convert                     : contrib.tensorrt.trt_convert
python.compiler.xla   xla                                : xla.experimental contrib.compiler.xla
python.compiler.xla   jit                                : contrib.compiler.jit

python.debug          cli wrappers lib                   : debug
python.debug.cli      analyzer_cli                       : legacy.inner.debug.analyzer
python.debug.cli      base_ui readline_ui ui_factory     : legacy.inner.debug.user_interfaces
python.debug.cli      cli_config                         : legacy.inner.debug.cli_config
python.debug.cli      cli_shared                         : legacy.inner.debug.cli_shared
python.debug.cli      cli_test_utils                     : legacy.inner.debug.cli_test_utils
python.debug.cli      command_parser                     : legacy.inner.debug.command_parser
python.debug.cli      evaluator                          : legacy.inner.debug.evaluator
python.debug.cli      profile_analyzer_cli               : legacy.inner.debug.profile_analyzer
python.debug.cli      tensor_format                      : legacy.inner.debug.tensor_format
python.debug.lib      common debug_graphs                : legacy.inner.debug.names debug
python.debug.lib      profiling                          : legacy.inner.debug.profiling
python.debug.cli      curses_widgets                     : legacy.inner.debug.curses_widgets
python.debug.cli      curses_ui                          : legacy.inner.debug.curses_ui legacy.inner.debug.curses_widgets
python.debug.cli      debugger_cli_common                : legacy.inner.debug.commands
python.debug.wrappers local_cli_wrapper                 : legacy.inner.debug.local_cli
python.debug.wrappers hooks local_cli_wrapper dumping_wrapper framework grpc_wrapper : debug debug.*
python.debug.lib      source_remote                      : debug.tracebacks
python.debug.lib      source_utils                       : legacy.inner.debug.source_lines
python.debug.lib      debug_data                         : debug debug.* legacy.inner.debug.dump_names
python.debug.lib      debug_utils debug_gradients        : debug debug.*

python.distribute     distribute_lib mirrored_strategy one_device_strategy central_storage_strategy parameter_server_strategy \
                      collective_all_reduce_strategy     : legacy.inner.distribute.strategy_names
python.distribute     distribute_lib distribution_strategy_context mirrored_strategy values cross_device_ops : distribute distribute.* \
                                                           contrib.distribute
python.distribute     distribution_strategy_context      : legacy.inner.distribute.contexts
python.distribute     cross_device_ops                   : legacy.inner.distribute.reductions legacy.inner.distribute.collective_reductions
python.distribute     strategy_test_lib                  : legacy.inner.distribute.strategy_tests
python.distribute     multi_worker_test_base             : legacy.inner.distribute.worker_tests
python.distribute     single_loss_example                : legacy.inner.distribute.examples
python.distribute     model_combinations                 : legacy.inner.distribute.simple_models
python.distribute.model_collection simple_models model_collection_base : legacy.inner.distribute.simple_models
python.distribute     input_lib                          : legacy.inner.distribute.input_library
python.distribute     input_ops                          : legacy.inner.distribute.input_operations
python.distribute     numpy_dataset                      : legacy.inner.distribute.numpy_input
python.distribute     device_util                        : legacy.inner.distribute.device_names
python.distribute     multi_worker_util                  : legacy.inner.distribute.multi_worker
python.distribute     shared_variable_creator            : legacy.inner.distribute.shared_variables
python.distribute     cross_device_utils                 : legacy.inner.distribute.cross_device legacy.inner.distribute.collective_reductions
python.distribute     distribute_coordinator             : legacy.inner.distribute.coordinator
python.distribute     distribute_coordinator_context     : legacy.inner.distribute.worker_contexts
python.distribute     distribute_config                  : contrib.distribute
python.distribute     values                             : distribute.values distribute.device_maps legacy.inner.distribute.value_parts
python.distribute     combinations                       : legacy.inner.distribute.combinations
python.framework      combinations                       : legacy.inner.distribute.combinations
python.distribute     strategy_combinations              : legacy.inner.distribute.strategy_combinations
python.distribute     summary_op_util                    : legacy.inner.distribute.summary_op_util
python.keras.distribute distributed_training_utils       : legacy.inner.distribute.keras_training
python.keras.distribute multi_worker_training_state      : legacy.inner.distribute.training_state
python.keras.distribute multi_worker_testing_utils       : legacy.inner.distribute.synthetic_digits
python.distribute     cluster_resolver                   : distribute.cluster_resolver distribute.scheduler_resolvers distribute.tpu_resolver \
                                                           legacy.inner.distribute.resolver_names
python.distribute.cluster_resolver cluster_resolver      : distribute.cluster_resolver
python.distribute.cluster_resolver tfconfig_cluster_resolver : distribute.cluster_resolver legacy.inner.distribute.resolver_names
python.distribute.cluster_resolver tpu_cluster_resolver  : distribute.tpu_resolver
python.distribute     all_reduce                         : distribute.all_reduce
python.distribute     collective_all_reduce_strategy     : contrib.distribute distribute.collective

python.eager          context                            : legacy.inner.eager.context
python.eager          function                           : legacy.inner.eager.functions
python.eager          def_function                       : ops.functions.traced
python.eager          lift_to_graph                      : legacy.inner.eager.func_graphs
python.framework      func_graph                         : legacy.inner.eager.func_graphs
python.eager          backprop context def_function function : eager eager.* legacy.inner.eager.functions . \
                                                           ops.functions.traced framework.tapes runtime.process_options debugging
python.eager          backprop                           : legacy.inner.eager.backprop
python.eager          cancellation                       : legacy.inner.eager.cancellation
python.eager          execute                            : legacy.inner.eager.execute
python.eager          execution_callbacks                : contrib.eager.callbacks
python.eager          forwardprop                        : legacy.inner.eager.forwardprop
python.eager          tape imperative_grad               : legacy.inner.eager.tape
python.eager          profiler profiler_client           : profiler.live legacy.inner.eager.profiler_client
python.eager.memory_tests memory_test_util               : legacy.inner.eager.memory
python.eager          context                            : contrib.eager.execution
python.eager          core                               : legacy.inner.eager.core
python.eager          remote                             : legacy.inner.eager.remote
python.eager          executor                           : legacy.inner.eager.executor
python.eager          test                               : test
python.eager          monitoring                         : legacy.inner.monitoring
python.eager          wrap_function                      : ops.functions.wrapped
python.eager          graph_only_ops                     : legacy.inner.eager.graph_only_ops

python.estimator      estimator model_fn run_config training exporter early_stopping util keras warm_starting_util gc : \
                      estimator estimator.run_config estimator.arguments estimator.experimental legacy.inner.tpu
python.estimator      estimator model_fn early_stopping util : legacy.inner.estimator
python.estimator      gc                                 : legacy.inner.estimator_exports
python.estimator.head base_head head_utils               : estimator legacy.inner.estimator_public_heads
python.estimator.inputs numpy_io pandas_io inputs queues : estimator.inputs
python.estimator.canned dnn linear baseline boosted_trees dnn_linear_combined head parsing_utils metric_keys prediction_keys : \
                      estimator estimator.canned.keys
python.estimator.canned head                            : legacy.inner.estimator_heads
python.estimator.canned optimizers                      : estimator.canned.optimizers
python.estimator.export export export_output export_lib  : estimator.export
python.estimator.export export                           : estimator.export.receivers
python.feature_column feature_column feature_column_lib feature_column_v2 : feature_column legacy.inner.feature_column feature_column.*
python.feature_column dense_features_v2                  : feature_column.features_layers_v2
python.feature_column serialization                      : feature_column.serialization
python.feature_column utils                              : legacy.inner.feature_column feature_column.sequence_lengths
python.feature_column sequence_feature_column            : feature_column feature_column.sequence feature_column.features_layers

python.framework      config                             : config config.experimental config.optimizer config.threading legacy.inner.core.config
python.framework      ops                                : legacy.inner.core.operations . framework.graph framework.graph_keys framework.scopes framework.conversion \
                                                           framework.composites framework.operation framework.registry framework.devices \
                                                           profiler.statistics ops.gradients.reverse contrib.framework.tensors eager.tensor \
                                                           legacy.inner.framework_ops
python.framework      constant_op                        : . ops.array.constants legacy.inner.framework
python.framework      common_shapes                      : legacy.inner.core.shape_functions
python.framework      common_shapes tensor_shape         : framework.shapes framework.windows . legacy.inner.framework
python.framework      composite_tensor                   : framework.type_specs framework.composites legacy.inner.composite_tensors
python.framework      device device_spec                 : framework.devices . legacy.inner.framework
python.framework      dtypes                             : framework.dtypes legacy.inner.core.types
python.framework      errors errors_impl                 : framework.errors
python.framework      errors_impl                        : legacy.inner.core.errors
python.framework      function                           : ops.functions.defun framework.function* . legacy.inner.framework
python.framework      graph_io                           : formats.graph_files
python.framework      graph_util graph_util_impl         : graph_util legacy.inner.framework
python.framework      importer                           : . framework.importer
python.framework      indexed_slices sparse_tensor tensor_spec type_spec tensor_like : . framework.composites framework.type_specs \
                                                           framework.conversion contrib.framework.tensors legacy.inner.framework_ops
python.framework      type_spec                          : legacy.inner.framework
python.framework      tensor_like                        : legacy.inner.framework_ops
python.framework      load_library                       : .
python.framework      meta_graph                         : ops.io.meta_graph train .
python.framework      op_def_library                     : legacy.inner.op_def_library framework.builder
python.framework      op_def_registry                    : legacy.inner.registries framework.op_defs
python.framework      test_ops                           : legacy.inner.test_ops
python.framework      registry kernels                   : legacy.inner.registries
python.framework      traceable_stack                    : legacy.inner.traceable_stack
python.framework      composite_tensor_utils             : legacy.inner.composite_tensors
python.framework      test_combinations                  : legacy.inner.test_combinations
python.framework      convert_to_constants               : ops.functions.freezing
python.framework      subscribe                          : legacy.inner.subscribe
python.framework      op_callbacks                       : framework.op_callbacks
python.framework      random_seed                        : framework.seeds
python.framework      smart_cond                         : ops.control_flow ops.control_flow.* legacy.inner.control_flow
python.framework      tensor_util                        : framework.tensor_values framework.static_values framework.conversion . legacy.inner.framework legacy.inner.core.types
python.framework      test_util                          : test test.* legacy.inner.platform.testing
python.framework      versions                           : legacy.inner.versions
python.framework      auto_control_deps                  : ops.control_flow.automatic_dependencies
python.framework      error_interpolation                : legacy.inner.error_interpolation
python.framework      function_def_to_graph graph_to_function_def : legacy.inner.function_graphs
python.framework      c_api_util func_graph              : framework.graph framework.function* . legacy.inner.api_definitions

python.grappler       tf_optimizer item cluster          : tools.grappler

python.keras          _impl                              : keras
python.keras          applications                       : keras.applications
python.keras          callbacks                          : keras.callbacks.tensorboard_v2 keras.callbacks
python.keras          callbacks_v1                       : keras.callbacks
python.keras          constraints                        : keras.constraints
python.keras          datasets                           : keras.datasets
python.keras          engine                             : keras.engine.base_layer keras keras.layers
python.keras          estimator                          : estimator.keras_models
python.keras          preprocessing                      : keras.preprocessing
python.keras          wrappers                           : keras.wrappers
python.keras          activations                        : keras.activations
python.keras          backend backend_config             : keras.backend legacy.inner.keras_engine.backend_parts
python.keras          initializers                       : keras.initializers ops.variables.initializers
python.keras          layers                             : keras.layers
python.keras          losses                             : keras.losses
python.keras          metrics                            : keras.metrics keras.metrics.*
python.keras          models                             : keras.models keras.saving.clones
python.keras          optimizers                         : legacy.inner.keras_engine.old_optimizers keras.optimizers
python.keras          regularizers                       : keras.regularizers
python.keras          utils                              : keras.utils
python.keras          saving                             : keras.saving legacy.inner.keras_saving
python.keras          testing_utils                      : legacy.inner.keras_testing
python.keras          keras_parameterized                : legacy.inner.keras_testing.modes
python.keras          model_subclassing_test_util        : legacy.inner.keras_testing.subclassed_models
python.keras          engine                             : keras.engine keras keras.layers keras.models
python.keras.engine   base_layer input_layer input_spec network sequential training topology : \
                                                           keras keras.layers keras.models keras.engine.*
python.keras.engine   base_layer_utils                   : legacy.inner.keras_engine.layer_parts keras.engine.ordered_calls keras.engine.*
python.keras.engine   network                            : legacy.inner.keras_engine.layer_parts
python.keras.engine   base_preprocessing_layer base_preprocessing_layer_v1 : legacy.inner.keras_engine.preprocessing
python.keras.engine   saving                             : legacy.inner.keras_saving keras.saving.models keras.saving.model_config
python.keras.engine   training                           : legacy.inner.keras_engine.endpoints
python.keras.engine   partial_batch_padding_handler      : legacy.inner.keras_engine.padding
python.keras.engine   data_adapter                       : legacy.inner.keras_engine.data_adapters
python.keras.engine   training_generator                 : legacy.inner.keras_engine.generator_loops legacy.inner.keras_engine.data_adapters
python.keras.engine   training_v2 training_v2_utils training_arrays training_distributed : legacy.inner.keras_engine.training_loops
python.keras.engine   training_utils                     : legacy.inner.keras_engine.training_data
python.keras.layers   kernelized                         : legacy.inner.keras_engine.kernelized
python.keras.utils    kernelized_utils                   : legacy.inner.keras_engine.kernelized
python.keras.layers   rnn_cell_wrapper_v2                : rnn.keras_wrappers
python.keras.layers   dense_attention                    : keras.layers.attention
python.keras.layers.preprocessing normalization normalization_v1 preprocessing_test_utils : legacy.inner.keras_engine.preprocessing legacy.inner.keras_testing.combiners
python.keras.mixed_precision experimental                : keras.mixed_precision.experimental
python.keras.mixed_precision.experimental policy         : keras.mixed_precision.policy
python.keras.mixed_precision.experimental autocast_variable : keras.engine.autocast_variable
python.keras.mixed_precision.experimental loss_scale_optimizer : keras.mixed_precision.loss_scale_optimizer
python.keras.mixed_precision.experimental test_util      : legacy.inner.keras_testing.gradients
python.keras.layers   core convolutional pooling recurrent embeddings merge normalization wrappers advanced_activations local noise \
                      cudnn_recurrent                    : keras.layers keras.layers.*
python.keras.layers   convolutional local normalization  : legacy.inner.keras_engine.layer_names
python.keras          losses                             : legacy.inner.keras_engine.layer_names
python.keras.optimizer_v2 optimizer_v2 rmsprop           : legacy.inner.keras_engine.layer_names
python.keras.mixed_precision.experimental policy         : legacy.inner.keras_engine.layer_names
python.keras.layers   normalization_v2                   : keras.layers.normalization_v2
python.keras.layers   recurrent_v2                       : keras.layers.recurrent_v2 legacy.inner.keras_engine.recurrent_parts keras.layers.*
python.keras.layers   recurrent                          : legacy.inner.keras_engine.recurrent_parts keras.layers.recurrent_cells
python.keras.saving   hdf5_format saving_utils           : legacy.inner.keras_saving
python.keras.utils    conv_utils data_utils generic_utils io_utils layer_utils losses_utils np_utils tf_utils vis_utils : keras.utils \
                                                           legacy.inner.keras legacy.inner.keras_utils keras.utils.* keras.generic keras.loss_reduction keras.engine.* keras.layers.*
python.keras.utils    layer_utils vis_utils io_utils     : legacy.inner.keras_engine.layer_utils
python.keras.saving   save                               : keras.saving.models keras.saving.weights
python.keras.saving   saved_model                        : keras.saving.saved_model
python.keras.saving.saved_model save utils                : keras.saving.saved_model.save legacy.inner.keras_engine.layer_traces
python.keras.saving.saved_model load                      : keras.saving.saved_model.load keras.saving.saved_model.revived
python.keras.utils    mode_keys                          : legacy.inner.keras_engine.mode_keys
python.keras.utils    metrics_utils                      : legacy.inner.keras_utils keras.loss_reduction keras.generic
python.keras.optimizer_v2 adam adadelta adagrad adamax ftrl gradient_descent nadam optimizer_v2 rmsprop : keras.optimizers \
                                                           keras.optimizers.optimizer
python.keras.optimizer_v2 learning_rate_schedule         : keras.optimizers.schedules
python.layers         base core convolutional pooling normalization layers : layers layers.* legacy.inner.layers
python.layers         utils                              : legacy.inner.layers layers layers.* keras.engine.arguments ops.control_flow keras.utils.for_layers legacy.inner.keras

python.lib.io         file_io                            : platform.file_io
python.lib.io         tf_record python_io                : python_io io

python.ops            array_ops                          : legacy.inner.ops.arrays . ops.array.* ops.array.constants sparse quantization legacy.gen_ops
python.ops            math_ops                           : legacy.inner.ops.arithmetic . math linalg ops.math.* ops.array.* legacy.gen_ops
python.ops            nn nn_ops nn_impl nn_grad nn_fused_batchnorm : nn math . ops.nn.* legacy.inner.nn legacy.gen_ops ops.linalg.norms
python.ops            array_grad control_flow_grad data_flow_grad image_grad linalg_grad manip_grad math_grad nn_grad random_grad rnn_grad sparse_grad tensor_array_grad : legacy.inner.ops.gradient_functions
python.ops            control_flow_v2_toggles            : experimental legacy.inner.control_flow .
python.ops            cond_v2 while_v2                   : legacy.inner.ops.functional_control_flow
python.ops            control_flow_ops                   : legacy.inner.ops.loop_pieces
python.ops            control_flow_ops cond_v2 while_v2  : . ops.control_flow ops.control_flow.* legacy.inner.control_flow ops.control_flow.grouping
python.ops            control_flow_ops control_flow_grad : legacy.gen_ops
python.ops            default_gradient                   : legacy.inner.ops.zeros
python.ops            control_flow_util control_flow_util_v2 control_flow_v2_func_graphs : ops.control_flow ops.control_flow.* legacy.inner.control_flow
python.ops            check_ops                          : debugging . ops.checks.*
python.ops            clip_ops histogram_ops numerics    : . debugging ops.math.* ops.math.clip ops.checks.values
python.ops            bitwise_ops                        : bitwise legacy.gen_ops
python.ops            boosted_trees_ops                  : legacy.inner.ops.boosted_trees
python.ops            confusion_matrix                   : math ops.math.confusion_matrix
python.ops            custom_gradient                    : . ops.gradients.custom legacy.inner.ops.derivatives
python.ops            random_grad                        : legacy.inner.ops.derivatives
python.ops            data_flow_ops                      : . queue ops.queues.* ops.queues.accumulators ops.queues.barriers ops.queues.staging ops.io.record_input legacy.inner.ops.stores legacy.gen_ops
python.ops            embedding_ops ctc_ops candidate_sampling_ops : nn legacy.inner.ops.embeddings ops.nn.embedding ops.nn.*
python.ops            ctc_ops                            : legacy.inner.ops.ctc legacy.inner.ops.ctc_states
python.ops            math_grad                          : legacy.inner.ops.arithmetic
python.ops            spectral_ops_test_util             : legacy.inner.ops.spectra
python.ops            critical_section_ops               : ops.variables.critical_section
python.ops            list_ops                           : ops.tensor_arrays.list_functions legacy.gen_ops ops.tensor_arrays.lists .
python.ops            collective_ops nccl_ops            : ops.array.collectives legacy.gen_ops
python.ops            batch_ops inplace_ops sort_ops     : . ops.batching ops.array.inplace legacy.inner.ops.sorting legacy.gen_ops
python.ops            functional_ops map_fn              : . ops.control_flow.maps ops.functions.calls legacy.inner.ops.derivatives legacy.gen_ops
python.ops            gradients gradients_impl gradients_util : . ops.gradients.reverse legacy.inner.nn legacy.inner.ops.derivatives
python.ops            gradient_checker                   : test
python.ops            gradient_checker_v2                : test.gradient_checker_v2
python.ops            image_ops image_ops_impl           : legacy.inner.ops.images image ops.image.* legacy.gen_ops
python.ops            init_ops_v2                        : legacy.inner.ops.initializers
python.ops            clustering_ops                     : ops.clustering legacy.gen_ops
python.ops            init_ops                           : . initializers ops.variables.initializers ops.variables.convolution_initializers legacy.inner.nn
python.ops            io_ops                             : legacy.inner.ops.saving_ops . io ops.io.* ops.io.files ops.io.readers legacy.gen_ops
python.ops            linalg_ops linalg_ops_impl         : linalg . ops.linalg.* legacy.gen_ops
python.ops            logging_ops                        : legacy.inner.ops.logging . ops.io.printing contrib.deprecated legacy.gen_ops
python.ops            lookup_ops                         : legacy.inner.ops.tables lookup ops.lookup.* . legacy.gen_ops
python.ops            losses                             : losses
python.ops            resources                          : ops.variables.resources
python.ops            op_selector                        : legacy.inner.ops.op_selector contrib.graph_editor.select contrib.graph_editor.elements
python.ops            manip_ops                          : manip .
python.ops            metrics metrics_impl               : metrics metrics.variables legacy.inner.metrics
python.ops            parsing_ops                        : . io ops.io.parsing ops.io.examples legacy.inner.ops.parsing legacy.gen_ops
python.ops            partitioned_variables              : . ops.variables.partitioned
python.ops            quantized_ops                      : quantization .
python.ops            random_ops stateless_random_ops    : . random ops.random.* legacy.gen_ops
python.ops            resource_variable_ops              : ops.variables.resource ops.variables.handles legacy.inner.ops.resource_handles \
                                                           legacy.inner.ops.uninitialized_variables \
                                                           ops.variables.variable legacy.gen_ops . \
                                                           legacy.inner.nn
python.ops            rnn rnn_cell rnn_cell_impl rnn_cell_wrapper_impl : nn nn.rnn_cell rnn rnn.* legacy.inner.rnn
python.ops            script_ops                         : legacy.inner.ops.scripts . ops.functions.python
python.ops            stateful_random_ops                : ops.random.generators legacy.inner.ops.random_numbers legacy.gen_ops
python.ops.distributions bijector bijector_impl identity_bijector transformed_distribution : contrib.distributions.bijectors \
                                                           contrib.distributions
python.ops            session_ops                        : . ops.queues.session_tensors
python.ops            sets sets_impl                     : sets
python.ops            sparse_ops                         : legacy.inner.ops.sparse_maps sparse . ops.sparse.* legacy.gen_ops
python.ops            special_math_ops                   : math . ops.math.* ops.math.einstein_sums
python.ops            spectral_ops                       : signal spectral
python.ops            standard_ops                       : . legacy.inner.nn legacy.gen_ops
python.ops            sdca_ops                           : . legacy.gen_ops
python.ops            state_ops                          : ops.variables.assign . ops.variables.variable legacy.inner.ops.state_ops legacy.gen_ops
python.ops            string_ops                         : legacy.inner.ops.strings strings . ops.strings.* legacy.gen_ops
python.ops            summary_ops_v2                     : legacy.inner.ops.summaries summary.writing_ops
python.ops            summary_ops summary_op_util        : ops.io.summaries
python.ops            template                           : . ops.variables.template legacy.inner.ops.templates
python.ops            tensor_array_ops tensor_array_grad : . ops.tensor_arrays.* legacy.inner.ops.tensor_arrays
python.ops            variables                          : legacy.inner.ops.variables . ops.variables.variable ops.variables.ref ops.variables.partitioned
python.ops            variable_scope                     : . ops.variables.scope ops.variables.store ops.variables.variable \
                                                           ops.variables.eager_store legacy.inner.ops.variable_scopes legacy.inner.nn
python.ops            weights_broadcast_ops              : losses ops.nn.weights legacy.inner.ops.weights
python.ops            gen_*                              : legacy.gen_ops
python.ops.distributions distribution distributions normal categorical bernoulli beta gamma uniform multinomial dirichlet exponential \
                      laplace student_t kullback_leibler util : distributions distributions.*
python.ops.distributions bijector_test_util              : legacy.inner.ops.testing.bijector_cases
python.ops.distributions special_math                    : distributions.normal_functions legacy.inner.ops.normal_series
python.ops.distributions util                            : legacy.inner.ops.distributions contrib.distributions distributions.checks contrib.distributions.matrices \
                                                           contrib.distributions.axes ops.linalg.operators.broadcasting
python.ops.linalg     linalg linalg_impl linear_operator : linalg ops.linalg.operators ops.linalg.*
python.ops.linalg     linear_operator_util               : legacy.inner.linalg ops.linalg.operators.broadcasting
python.ops.linalg     linear_operator_circulant linear_operator_kronecker linear_operator_toeplitz : ops.linalg.operators.* linalg legacy.inner.ops.linalg.parts
python.ops.linalg     linear_operator_addition           : ops.linalg.operators.addition
python.ops.linalg     linear_operator_algebra            : legacy.inner.ops.linalg.algebra
python.ops.linalg     linear_operator_test_util          : legacy.inner.ops.testing.operator_cases
python.ops.linalg     registrations_util                 : ops.linalg.operators.hints
python.ops.losses     losses losses_impl util            : losses keras.loss_reduction legacy.inner.ops.losses
python.ops            parallel_for                       : ops.parallel_for.loops ops.parallel_for.jacobians
python.ops.parallel_for control_flow_ops gradients         : ops.parallel_for.loops ops.parallel_for.jacobians
python.ops.parallel_for test_util                        : legacy.inner.ops.testing.parallel_cases
python.ops.ragged     ragged_tensor ragged_factory_ops ragged_math_ops ragged_array_ops ragged_concat_ops ragged_functional_ops \
                      ragged_squeeze_op ragged_getitem ragged_operators ragged_tensor_value ragged_config ragged_util segment_id_ops \
                                                         : legacy.inner.ragged ragged . \
                                                           ops.ragged ops.ragged.*
python.ops.ragged     ragged_batch_gather_ops ragged_batch_gather_with_default_op ragged_conversion_ops ragged_gather_ops ragged_map_ops \
                      ragged_string_ops ragged_tensor_shape ragged_where_op : legacy.inner.ragged ops.ragged.batches ops.ragged.conversion ops.ragged.mapping \
                                                           ops.ragged.dynamic_shape ops.ragged.* ops.strings.ragged ragged .
python.ops.signal     signal fft_ops spectral_ops window_ops mel_ops mfcc_ops reconstruction_ops shape_ops dct_ops : signal legacy.inner.ops.mel_scale

python.module         module                             : ops.variables.module
python.platform       app                                : platform.app
python.platform       flags                              : platform.flags
python.platform       gfile                              : platform.gfile
python.platform       googletest test benchmark          : test legacy.inner.platform.testing
python.platform       resource_loader                    : platform.resource_loader
python.platform       self_check build_info              : sysconfig version legacy.inner.platform.builds
python.platform       sysconfig                          : sysconfig
python.platform       tf_logging                         : platform.logging
python.profiler       model_analyzer option_builder profile_context profiler tfprof_logger : profiler profiler.*
python.profiler.internal flops_registry                  : profiler.statistics

python.saved_model    main_op main_op_impl               : saved_model.main_op
python.saved_model    builder builder_impl constants loader loader_impl main_op main_op_impl signature_constants signature_def_utils \
                      signature_def_utils_impl simple_save tag_constants utils utils_impl : \
                      saved_model saved_model.builder saved_model.loader saved_model.main_op saved_model.constants \
                      saved_model.signature_constants saved_model.signature_def_utils saved_model.tag_constants saved_model.utils
python.saved_model    load load_v1_in_v2                 : legacy.inner.saved_model.object_loading saved_model.object_loading
python.saved_model    function_serialization function_deserialization : legacy.inner.saved_model.functions
python.saved_model    save                               : saved_model.object_saving
python.saved_model    nested_structure_coder             : legacy.inner.saved_model.structures
python.saved_model    revived_types                      : legacy.inner.saved_model.revived_types
python.saved_model    model_utils                        : legacy.inner.exporting estimator.export.outputs
python.saved_model.model_utils export_utils export_output mode_keys : legacy.inner.exporting estimator.export.outputs
python.summary        plugin_asset                       : summary.plugin_asset
python.summary        summary                            : summary
python.summary        summary_iterator                   : train
python.summary.writer writer writer_cache event_file_writer event_file_writer_v2 : summary summary.* formats.event_files

python.tools          freeze_graph                       : tools.freeze_graph
python.tools          import_pb_to_tensorboard           : tools.import_pb_to_tensorboard
python.tools          inspect_checkpoint                 : tools.inspect_checkpoint
python.tools          optimize_for_inference optimize_for_inference_lib : tools.optimize_for_inference
python.tools          print_selective_registration_header selective_registration_header_lib : tools.selective_registration
tools.compatibility   tf_upgrade_v2_main tf_upgrade_v2   : compat.upgrade
python.tools          saved_model_cli                    : tools.saved_model_cli
python.tools          saved_model_utils                  : tools.saved_model_utils
python.tools          strip_unused strip_unused_lib      : tools.strip_unused
lite                  python                             : lite
lite.python           lite convert                       : lite.converter lite.options lite
lite.python           interpreter                        : lite.interpreter
lite.experimental.microfrontend.python.ops audio_microfrontend_op : lite.microfrontend
lite.python           lite_constants                     : lite.constants
lite.python           op_hint                            : lite.op_hints
lite.python           tflite_convert                     : tools.tflite_convert
tools                 .                                  : tools
tools                 graph_transforms                   : tools.graph_transforms

python.training       adadelta adagrad adagrad_da adam ftrl gradient_descent momentum optimizer proximal_adagrad \
                      proximal_gradient_descent rmsprop sync_replicas_optimizer : train train.optim*
python.training       basic_session_run_hooks session_run_hook monitored_session session_manager coordinator queue_runner \
                      queue_runner_impl supervisor server_lib device_setter evaluation input learning_rate_decay moving_averages saver \
                      checkpoint_management checkpoint_utils checkpoint_ops slot_creator training training_util \
                      warm_starting_util saveable_object_util : train train.* summary . legacy.inner.training legacy.inner.training.multi_step_hooks
python.training       input optimizer checkpoint_management session_manager : legacy.inner.training.small_parts
python.training       training_util                      : ops.variables.global_step
python.training       optimizer                          : legacy.inner.training.gradient_filter
python.training       training_ops gen_training_ops      : legacy.gen_ops
python.training       distribute distribution_strategy_context : distribute
python.training       checkpoint_state_pb2               : protos.checkpoint_state_pb2
python.training       summary_io                         : legacy.inner.summary summary
python.training.saving saveable_object_util functional_saver : legacy.inner.tracking.savers
python.training.saving saveable_object saveable_object_util functional_saver : train train.*
python.training       saver_test_utils                   : legacy.inner.tracking.savers
python.training       tensorboard_logging                : summary.tensorboard_logging
python.training.experimental loss_scale                  : legacy.inner.tracking.loss_scales train.loss_scale
python.training.experimental mixed_precision mixed_precision_global_state : train.loss_scale
python.training.tracking base                            : legacy.inner.tracking.base ops.variables.trackable
python.training.tracking data_structures                 : ops.variables.containers
python.training.tracking layer_utils                     : legacy.inner.tracking.layer_utils
python.training.tracking graph_view                      : legacy.inner.tracking.graph_view
python.training.tracking tracking                        : legacy.inner.tracking.tracking ops.variables.auto_trackable
python.training.tracking util                            : legacy.inner.tracking.saving
python.training.tracking base tracking util data_structures graph_view : train train.* contrib.checkpoint.inspection \
                                                           keras.engine.tracked_attributes ops.variables.trackable
python.training       checkpoint_utils                   : train.eval_step
python.training.checkpointable base tracking util data_structures : train train.*

python.util           compat                             : platform.compat
python.util           deprecation decorator_utils        : platform.deprecation legacy.inner.util.documents
python.util           dispatch                           : legacy.inner.util.dispatch
python.util           example_parser_configuration       : legacy.inner.util.parser_configuration
python.util           lock_util                          : legacy.inner.util.locks
python.util           tf_stack                           : legacy.inner.util.stacks
python.util           nest                               : framework.nest legacy.inner.util.private_names
python.util           object_identity                    : legacy.inner.util.object_identity
python.util           tf_inspect                         : platform.inspection legacy.inner.util.private_names
python.util           lazy_loader                        : platform.lazy_loader
python.util           module_wrapper                     : platform.module_wrapper
python.util           serialization                      : legacy.inner.keras
python.util.protobuf  compare                            : legacy.inner.proto_comparison
python.util           tf_export                          : platform.exports
python.util           tf_contextlib tf_decorator function_utils all_util keyword_args : platform.decorators
python.util           tf_should_use                      : legacy.inner.util.should_use
python.util           memory is_in_graph_mode tf_decorator function_utils : legacy.inner.util.private_names

examples.tutorials.mnist input_data                      : datasets.mnist
python.tpu            tpu                                : tpu.replication tpu.sharding tpu.context tpu.system tpu.inference \
                                                           legacy.inner.tpu
python.tpu            tpu_function                       : ops.tpu.shard_context
python.tpu            tpu_feed                           : tpu.feeds tpu.partitioned_feeds
python.tpu            tpu_sharding                       : tpu.sharding_policy
python.tpu            training_loop                      : tpu.loops
python.tpu            tpu_optimizer                      : tpu.cross_shard
python.tpu            tpu_embedding                      : tpu.embedding tpu.embedding_config tpu.embedding_optimizers
python.tpu            tpu_strategy_util tpu_system_metadata : tpu.strategy
python.tpu            tpu_embedding_gradient             : tpu.embedding_gradient
python.tpu            functional                         : legacy.inner.tpu
python.tpu            feature_column feature_column_v2   : tpu.feature_column
python.tpu            device_assignment                  : tpu.device_assignment legacy.inner.tpu
python.tpu            tpu_config tpu_context tpu_estimator util error_handling _tpu_estimator_embedding iteration_count_estimator : \
                                                           estimator.tpu estimator.tpu.* tpu.* legacy.inner.tpu legacy.inner.tpu_context
python.estimator.tpu  _tpu_estimator_embedding error_handling iteration_count_estimator tpu_config tpu_context tpu_estimator util : \
                                                           estimator.tpu estimator.tpu.* tpu.* legacy.inner.tpu legacy.inner.tpu_context
python.tpu            keras_support keras_tpu_variables  : contrib.tpu.keras_support
python.tpu.ops        tpu_ops                            : ops.tpu.functions legacy.gen_ops
python.distribute     tpu_strategy                       : legacy.inner.distribute.tpu_names tpu.strategy
compiler.xla.experimental.xla_sharding xla_sharding      : tpu.xla_sharding
compiler.tf2xla.ops   gen_xla_ops                        : legacy.gen_ops
compiler.tf2xla.python xla                               : legacy.inner.tf2xla
compiler.xla          xla_data_pb2                       : protos.xla_data_pb2
"""
