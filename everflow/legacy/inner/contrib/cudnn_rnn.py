"""Constants that programs take from inside tf.contrib.cudnn_rnn."""

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_LSTM_PARAMS_PER_LAYER, CUDNN_GRU_PARAMS_PER_LAYER = 8, 6
CUDNN_RNN_RELU_PARAMS_PER_LAYER = CUDNN_RNN_TANH_PARAMS_PER_LAYER = 2
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"
