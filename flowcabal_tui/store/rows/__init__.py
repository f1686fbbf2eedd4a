"""Rows that several subjects write or read: texts and their places, entities, proposals, tasks, generations."""
