"""slim's input: datasets described by sources, readers and decoders, and providers of their examples."""
