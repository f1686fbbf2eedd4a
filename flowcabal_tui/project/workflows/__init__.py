"""Workflow documents and what they may call."""
