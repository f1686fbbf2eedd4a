"""Panes of the workspace: they know values and post messages, and reach for nothing."""
