"""What an op is: build functions, shape rules and gradients, a file a family. What an op does is in `kernels`; both meet in its name."""
