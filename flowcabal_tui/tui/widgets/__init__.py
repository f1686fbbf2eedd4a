"""Widgets that show values and post messages: they save nothing and call no engine."""
