"""Child processes and files, safe against names and text of strangers."""
