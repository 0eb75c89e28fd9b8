"""Queues, accumulators, barriers, staging areas."""
