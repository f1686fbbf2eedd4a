"""Widgets that show values and post messages: they store nothing and do not call the engine."""
