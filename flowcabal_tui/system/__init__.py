"""What meets the operating system with text of strangers: child processes and files."""
