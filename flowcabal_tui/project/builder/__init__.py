"""What the Builder needs of a project: simulated runs of a draft, and briefs in a file."""
