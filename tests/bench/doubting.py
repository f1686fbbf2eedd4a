"""A mock of a helper that calls a share of all pairs contradictions, each time it is asked, and defends nothing."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from zlib import crc32

from tests.faultserver import FaultServer, Json

CONFIDENCE: Final = 0.7
"""Not enough to write the chapter again, which would be another chapter's cost."""
_STATEMENT: Final = re.compile(r'<statement id="(c\d+)"[^>]*?(?: see="([^"]*)")?>')
_PASSAGE: Final = re.compile(r"(p\d+) \[\d+")
_DOUBT: Final = re.compile(r'<doubt id="(d\d+)">')


class DoubtingServer(FaultServer):
    """Adds its doubts to what it is told to answer to everything."""

    def __init__(self, said: Mapping[str, Any], share: float) -> None:
        super().__init__()
        self._said, self._share = said, share

    async def _serve(self, writer: asyncio.StreamWriter, entry: Json, fault: Json) -> str:
        if "messages" not in entry["body"]:  # the list of models
            return await super()._serve(writer, entry, fault)
        text = entry["body"]["messages"][-1]["content"]
        arguments = json.dumps({**self._said, **self._doubts(text)}, ensure_ascii=False)
        answer = {"tool_calls": [{"name": "answer", "arguments": arguments}], "usage": False}
        return await super()._serve(writer, entry, answer)

    def _doubts(self, text: str) -> Json:
        doubted = [{"statement": one, "passage": other, "verdict": "contradiction"} for one, other in pairs_shown(text)
                   if crc32(f"{one} {other}".encode()) < self._share * 2**32]  # fmt: skip
        left = {each["statement"] for each in doubted}
        reading = {"verdict": "contradiction", "confidence": CONFIDENCE}
        return {
            "verdicts": doubted,
            "compatible": [one for one in self._said["compatible"] if one not in left],
            "readings": [{"doubt": each, **reading} for each in _DOUBT.findall(text)],
        }


def pairs_shown(text: str) -> Iterator[tuple[str, str]]:
    """Each statement with each of its passages, by their ids, as a question of a check shows them."""
    statement = ""
    for line in text.partition("<statements>")[2].partition("</statements>")[0].splitlines():
        if begun := _STATEMENT.match(line):
            statement = begun[1]
            yield from ((statement, known) for known in (begun[2] or "").split())
        elif passage := _PASSAGE.match(line):
            yield statement, passage[1]
