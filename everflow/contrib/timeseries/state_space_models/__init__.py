"""State space models: what is seen of a series is a view of a hidden state that moves on linearly, with noise."""
