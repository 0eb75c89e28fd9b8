"""Paths into `tf.contrib` that programs import, and the modules that serve them; `path_table.py` says how a row reads."""

from __future__ import annotations

TABLE = """
contrib.all_reduce.python all_reduce                     : distribute.all_reduce
contrib.data.python.ops threadpool                       : data.experimental.threadpool
contrib.distributions.python.ops bijectors.*             : contrib.distributions.bijectors contrib.distributions.bijectors.* \
                                                           legacy.inner.contrib.bijectors
contrib.distributions.python.ops statistical_testing     : legacy.inner.contrib.statistical_testing
contrib.distributions.python.ops test_util               : legacy.inner.contrib.distribution_testing
contrib.distributions.python.ops distribution_util       : legacy.inner.contrib.distributions legacy.inner.ops.distributions \
                                                           distributions.checks contrib.distributions.matrices \
                                                           contrib.distributions.axes ops.linalg.operators.broadcasting
contrib.distributions.python.ops deterministic estimator gumbel vector_diffeomixture vector_student_t : \
                                                           contrib.distributions legacy.inner.contrib.distributions
contrib.bayesflow.python.ops monte_carlo_impl            : contrib.bayesflow legacy.inner.contrib.small_names
contrib.image.python.ops distort_image_ops interpolate_spline sparse_image_warp : legacy.inner.contrib.image contrib.image
contrib.integrate.python.ops odes                        : contrib.integrate legacy.inner.contrib.odes
contrib.labeled_tensor.python.ops core                   : contrib.labeled_tensor.core contrib.labeled_tensor.axes \
                                                           legacy.inner.contrib.labeled_tensor contrib.labeled_tensor
contrib.metrics.python.ops histogram_ops metric_ops      : contrib.metrics legacy.inner.contrib.small_names
contrib.model_pruning.python pruning_utils               : legacy.inner.contrib.pruning contrib.model_pruning
contrib.opt.python.training matrix_functions             : legacy.inner.contrib.opt
contrib.quantize.python common fold_batch_norms quantize : legacy.inner.contrib.quantize
contrib.text.python.ops skip_gram_ops                    : contrib.text legacy.inner.contrib.small_names
contrib.training.python.training sampling_ops            : contrib.training legacy.inner.contrib.sampling
contrib.learn.python.learn.datasets synthetic            : datasets.synthetic
contrib.learn.python.learn.estimators estimator_test_utils test_data : legacy.inner.contrib.learn_testing
contrib.learn.python.learn.estimators metric_key         : contrib.learn.model_ops
contrib.learn.python.learn.learn_io generator_io numpy_io pandas_io : contrib.learn.input_functions contrib.learn.tables
contrib.learn.python.learn.estimators head               : contrib.learn.heads contrib.learn.class_heads contrib.learn.svm_head \
                                                           legacy.inner.contrib.learn_heads contrib.learn
contrib.learn.python.learn.estimators debug              : contrib.learn.debug
contrib.learn.python.learn models                        : contrib.learn.models
contrib.learn.python.learn.ops embeddings_ops losses_ops seq2seq_ops : contrib.learn.models
contrib.learn.python.learn.datasets mnist                : datasets.mnist
contrib.learn.python.learn.datasets base                 : datasets.csv_files
contrib.learn.python.learn.estimators rnn_common dynamic_rnn_estimator : contrib.learn.dynamic_rnn_estimator
contrib.learn.python.learn.utils export                 : contrib.learn.bundle_export
contrib.learn.python.learn.utils saved_model_export_utils : contrib.learn.export_strategies contrib.learn.signatures
contrib.learn.python.learn session_run_hook basic_session_run_hooks : train
contrib.learn.python.learn preprocessing                 : contrib.learn.preprocessing
contrib.learn.python.learn.preprocessing text categorical categorical_vocabulary : contrib.learn.preprocessing
contrib.seq2seq.python.ops attention_wrapper helper decoder basic_decoder beam_search_decoder beam_search_ops loss : \
                      contrib.seq2seq legacy.inner.contrib.seq2seq
contrib.quantize.python quant_ops                        : contrib.quantize.fake_quant
contrib.quantize.python common input_to_ops              : contrib.quantize.graph_questions
contrib.quantize.python graph_matcher                    : contrib.quantize.graph_matcher
contrib.rnn.python.ops core_rnn_cell core_rnn_cell_impl rnn_cell rnn core_rnn lstm_ops gru_ops fused_rnn_cell : \
                      contrib.rnn legacy.inner.contrib.rnn legacy.inner.rnn
contrib.feature_column.python.feature_column sequence_feature_column : contrib.feature_column feature_column.sequence
contrib.batching.python.ops batch_ops                     : ops.batching legacy.gen_ops
contrib.framework.python.ops audio_ops                   : audio legacy.gen_ops
contrib.losses.python.metric_learning metric_loss_ops    : contrib.losses.metric_learning legacy.inner.contrib.small_names
contrib.summary       summary                            : contrib.summary
contrib.testing.python.framework fake_summary_writer   : contrib.testing.fake_summary_writer contrib.testing
contrib.testing.python.framework util_test             : contrib.testing.event_files contrib.testing
contrib.tensorboard.plugins.projector projector_config_pb2 : contrib.tensorboard.plugins.projector
contrib.timeseries.python.timeseries math_utils          : contrib.timeseries.matrices contrib.timeseries.covariances contrib.timeseries.*
contrib.timeseries.python.timeseries state_space_models  : contrib.timeseries.state_space_models.*
contrib.timeseries.python.timeseries.state_space_models state_space_model : \
                                                           contrib.timeseries.state_space_models.*
contrib.linear_optimizer.python sdca_estimator           : contrib.linear_optimizer.sdca_estimator
contrib.linear_optimizer.python.ops sdca_ops sharded_mutable_dense_hashtable sparse_feature_column : \
                      train.sdca_model train.sharded_tables
contrib.saved_model.python.saved_model reader            : tools.saved_model_utils
contrib.session_bundle manifest_pb2                      : protos.manifest_pb2
contrib.tensor_forest.python tensor_forest               : contrib.tensor_forest.tensor_forest
contrib.tensor_forest.python.ops data_ops                : contrib.tensor_forest.data_ops
contrib.tensor_forest.python.ops model_ops stats_ops     : ops.forests legacy.gen_ops
contrib.tensor_forest.client random_forest               : contrib.tensor_forest.random_forest
contrib.tensor_forest.client eval_metrics                : contrib.tensor_forest.eval_metrics
contrib.boosted_trees.python.utils losses                : contrib.boosted_trees.losses
contrib               *.gen_*                            : legacy.gen_ops
contrib.boosted_trees.python.ops prediction_ops split_handler_ops training_ops : legacy.gen_ops
contrib.receptive_field.python.util graph_compute_order  : contrib.receptive_field.order
contrib.receptive_field.python.util parse_layer_parameters : contrib.receptive_field.layer_parameters
contrib.receptive_field.python.util receptive_field      : contrib.receptive_field.fields
contrib.labeled_tensor.python.ops nn                     : contrib.labeled_tensor.nn
contrib.recurrent.python recurrent_api                   : contrib.recurrent
contrib.recurrent.python.ops recurrent                   : contrib.recurrent.steps
contrib.recurrent.python.ops functional_rnn              : contrib.recurrent.networks
contrib.specs.python  .                                  : contrib.specs
contrib.specs.python  params_ops                         : contrib.specs.params_ops
contrib.specs.python  specs                              : contrib.specs.specs
contrib.specs.python  specs_lib                          : contrib.specs.specs_lib
contrib.specs.python  specs_ops                          : contrib.specs.specs_ops
contrib.specs.python  summaries                          : contrib.specs.summaries
contrib.labeled_tensor.python.ops core                   : contrib.labeled_tensor.core contrib.labeled_tensor.axes contrib.labeled_tensor
contrib.lookup        lookup_ops                         : contrib.lookup ops.lookup.*
contrib.layers.python.layers layers                      : contrib.layers legacy.inner.contrib.layers
contrib.cudnn_rnn.python.layers cudnn_rnn                : contrib.cudnn_rnn contrib.cudnn_rnn.layers legacy.inner.contrib.cudnn_rnn
contrib.model_pruning.python.layers core_layers          : contrib.model_pruning contrib.model_pruning.layers \
                                                           legacy.inner.contrib.model_pruning
contrib.layers.python.layers utils                       : contrib.layers.outputs
contrib.layers.python.layers feature_column feature_column_ops : contrib.layers legacy.inner.contrib.layers
contrib.layers.python.layers embedding_ops               : contrib.layers.*embeddings legacy.inner.contrib.layers
contrib.layers.python.layers target_column               : contrib.layers.target_columns contrib.learn.model_ops
contrib.slim.python.slim nets                            : contrib.slim.nets
contrib.slim.python.slim learning                        : contrib.slim.learning
contrib.slim.python.slim evaluation                      : contrib.slim.evaluation
contrib.slim.python.slim model_analyzer                  : contrib.slim.model_analyzer
contrib.slim.python.slim.nets alexnet                    : contrib.slim.nets.alexnet
contrib.slim.python.slim.nets inception inception_v1 inception_v2 inception_v3 : contrib.slim.nets.inception
contrib.slim.python.slim.nets overfeat                   : contrib.slim.nets.overfeat
contrib.slim.python.slim.nets resnet_utils               : contrib.slim.nets.resnet_utils
contrib.slim.python.slim.nets resnet_v1                  : contrib.slim.nets.resnet_v1
contrib.slim.python.slim.nets resnet_v2                  : contrib.slim.nets.resnet_v2
contrib.slim.python.slim.nets vgg                        : contrib.slim.nets.vgg
"""
