"""Random numbers: with state, without, and from generators."""
