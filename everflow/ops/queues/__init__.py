"""What is filled and emptied: queues, accumulators, barriers, staging areas, tensors that a session keeps."""
