"""The workflow language: kinds of nodes, the plan of a graph, validation."""
