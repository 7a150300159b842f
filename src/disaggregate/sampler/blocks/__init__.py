"""Dense weights on data of many blocks: blocks answer questions about sums over their rows, one driver asks."""
