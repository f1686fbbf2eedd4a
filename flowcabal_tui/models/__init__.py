"""Models: OpenAI-compatible and Anthropic endpoints, token estimate, embeddings, the loopback endpoint.

Importing this package loads no HTTP library: `transport` does so when the first call is made.
"""
