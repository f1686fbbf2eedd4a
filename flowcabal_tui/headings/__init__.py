"""Headings of novels and outlines: the same rules for imported and planned text."""
