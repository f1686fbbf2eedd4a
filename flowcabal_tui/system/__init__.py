"""Child processes and files, protected against untrusted names and texts."""
