"""Data that examples and old tutorials read: MNIST, and a small set of digits that is part of the package."""
