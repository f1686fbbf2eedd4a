"""Models of the project: roles, money, embeddings."""
