"""The book of a project: kept, imported, edited, searched, followed back, backed up."""
