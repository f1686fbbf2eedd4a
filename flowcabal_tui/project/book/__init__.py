"""The book of a project: keeping, importing, editing, searching, origins, backups."""
