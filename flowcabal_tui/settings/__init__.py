"""Paths, the project's file, the user's file, and secrets."""
