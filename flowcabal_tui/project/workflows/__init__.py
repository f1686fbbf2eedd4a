"""Making and changing workflows: what the Builder needs of a project."""
