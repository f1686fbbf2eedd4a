"""The application: start and end, start page, opening of projects, keys, themes, notices."""
