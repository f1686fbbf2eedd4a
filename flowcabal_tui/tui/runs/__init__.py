"""Runs on the screen: the output of nodes, their contexts, and the origin of each line."""
