"""Ops of TPUs: what their nodes are. No kernel runs them here; `everflow.tpu` draws with them."""
