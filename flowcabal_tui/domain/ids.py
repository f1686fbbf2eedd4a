"""Identifiers. All are strings; NewType keeps them apart for the type checker."""

from __future__ import annotations

from typing import NewType

RunId = NewType("RunId", str)
NodeId = NewType("NodeId", str)
QuestionId = NewType("QuestionId", str)
ChapterId = NewType("ChapterId", str)
OutputId = NewType("OutputId", str)
EntityId = NewType("EntityId", str)
CommandId = NewType("CommandId", str)
Digest = NewType("Digest", str)
"""Lower-case hexadecimal blake2b-128 of a text or of a canonical JSON value (32 characters)."""
Generation = NewType("Generation", int)
"""Counts the changes of a book's memory; a run pins one and reads everything as of it."""
