"""The Builder: from a wish to a suggested workflow, by typed edits on a copy. Nothing here saves or spends."""
