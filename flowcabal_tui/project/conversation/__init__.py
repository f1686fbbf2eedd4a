"""The conversations of a project: what they read, propose and keep."""
