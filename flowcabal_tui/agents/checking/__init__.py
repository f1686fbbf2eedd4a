"""Checks the facts of a draft against the book, from several angles."""
