"""Pure values: no input or output, no asyncio, no library but pydantic (for the workflow document)."""
