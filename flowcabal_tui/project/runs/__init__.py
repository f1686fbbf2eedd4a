"""The runs of a project: starting, answering, quoting, replaying, and their versions."""
