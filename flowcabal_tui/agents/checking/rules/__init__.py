"""Checks of a draft against the book that need no model: one module a rule, and their registry."""
