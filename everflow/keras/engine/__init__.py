"""What models are made of: layers, the graph of layers, networks, training."""
