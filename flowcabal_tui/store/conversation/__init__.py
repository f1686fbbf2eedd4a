"""Conversations with the book."""
