"""Kinds of nodes: one module each, found by `registry`."""
