"""Neural networks: activations, convolutions, pooling, normalization, losses, with their shape rules and gradients."""
