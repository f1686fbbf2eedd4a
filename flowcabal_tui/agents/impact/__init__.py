"""Finds by rule the places that depend on a change of the book."""
