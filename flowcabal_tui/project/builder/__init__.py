"""The Builder's interface to a project: simulated runs of a draft, and briefs in a file."""
