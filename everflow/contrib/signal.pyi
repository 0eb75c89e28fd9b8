# Made by `make stubs`.

from everflow.signal import frame as frame
from everflow.signal import hamming_window as hamming_window
from everflow.signal import hann_window as hann_window
from everflow.signal import inverse_stft as inverse_stft
from everflow.signal import inverse_stft_window_fn as inverse_stft_window_fn
from everflow.signal import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from everflow.signal import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from everflow.signal import overlap_and_add as overlap_and_add
from everflow.signal import stft as stft
