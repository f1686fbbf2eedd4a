"""Measures the whole product on this machine: `python -m tests.bench [NAME ...]`."""
