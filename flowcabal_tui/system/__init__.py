"""Child processes and files, safe for names and text of strangers."""
