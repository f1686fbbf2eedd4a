"""Runs and documents: the log, current outputs, histories, the state."""
