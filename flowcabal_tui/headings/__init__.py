"""Headings of novels and outlines: the same rules for what is imported and for what is planned."""
