"""Benchmarks that users can run: of contexts, on novels and on their own book."""
