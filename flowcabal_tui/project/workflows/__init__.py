"""Workflow documents and the actions and workflows that they may call."""
