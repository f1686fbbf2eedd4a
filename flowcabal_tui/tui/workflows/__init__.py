"""Workflows on the screen: the graph, the prompts, the parameters."""
