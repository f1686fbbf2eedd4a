"""Word documents (DOCX): read from their XML, written with python-docx."""
