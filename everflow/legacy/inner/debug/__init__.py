"""Names of tensorflow.python.debug that programs and tests take from inside of it, where everflow.debug has others."""
