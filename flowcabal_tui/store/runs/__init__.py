"""Runs and documents: the log, what stands, histories, the state."""
