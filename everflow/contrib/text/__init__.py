"""tf.contrib.text: pairs of words near each other, to train word vectors with."""

from everflow.contrib.text.skip_gram import skip_gram_sample, skip_gram_sample_with_text_vocab

__all__ = ["skip_gram_sample", "skip_gram_sample_with_text_vocab"]
