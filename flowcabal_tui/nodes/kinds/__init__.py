"""Kinds of nodes: one module each with a `KIND`, found by `nodes.registry`, and their shared code."""
