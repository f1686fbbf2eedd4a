"""The conversations of a project: their sources, proposals and storage."""
