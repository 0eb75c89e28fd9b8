# Made by `make stubs`.
