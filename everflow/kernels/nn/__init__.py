"""Neural networks on torch."""
