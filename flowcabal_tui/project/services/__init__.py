"""Questions and commands of a project: one service for each subject."""
