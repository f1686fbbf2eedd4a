"""The application: its start and end, the front page, projects that are opened, keys, themes, notices."""
