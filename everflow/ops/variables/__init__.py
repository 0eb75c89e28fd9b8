"""Variables: of both kinds, the scopes and stores that name them, their initializers."""
