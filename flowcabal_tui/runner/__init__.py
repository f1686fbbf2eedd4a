"""Runs workflows: what is ready, what it costs, what is paid already, and who is asked."""
