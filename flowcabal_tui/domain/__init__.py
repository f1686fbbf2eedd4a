"""Pure values: no input or output, no asyncio. Libraries: pydantic (documents), jmespath, regex and simpleeval."""
