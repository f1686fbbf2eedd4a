"""The Builder turns a request into a suggested workflow by typed edits on a copy. Nothing here saves or spends."""
