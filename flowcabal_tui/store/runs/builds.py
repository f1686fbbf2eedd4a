"""The stored builds of workflows, listed without reading their documents."""

from __future__ import annotations

from flowcabal_tui.domain.builds import REJECTED, BuildRow, BuildState
from flowcabal_tui.store.file.connection import StorePart

_ROWS = """SELECT key, json_extract(json, '$.wish'), json_extract(json, '$.status'), json_extract(json, '$.decided'),
    json_extract(json, '$.base.id') FROM value WHERE key GLOB 'build-[0-9]*' AND CASE WHEN json_valid(json) THEN
    json_type(json, '$.wish')='text' AND json_type(json, '$.status')='text' END
    ORDER BY CAST(substr(key, 7) AS INTEGER)"""


class BuildRows(StorePart):
    """Builds are values under `build-NUMBER` (`Values`)."""

    async def rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first; one in the state `building` may have been interrupted."""
        found = await self._database.rows(_ROWS)
        return tuple(
            BuildRow(name, wish, _state(status, decided), workflow or "", "" if decided == REJECTED else decided)
            for name, wish, status, decided, workflow in found
        )


def _state(status: BuildState, decided: str) -> BuildState:
    if not decided:
        return status
    return "rejected" if decided == REJECTED else "accepted"
