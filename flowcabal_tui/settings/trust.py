"""The user's confirmations of project folders: one file for each project, in the user's state folder.

A record is valid for one real path, project id and owner of the folder; a copy or a moved folder has none.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.locked import locked
from flowcabal_tui.system.files import write_whole

FORM: Final = "flowcabal-trust/1"
"""A record with another form is ignored, since the rules for its digests have changed."""
MOST_DIGESTS: Final = 20_000
"""The oldest are forgotten first, and asked for again if they are still in use."""


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """The file with the answers for one folder. `owner` is the uid of the folder."""

    path: str
    project: str
    owner: int

    @classmethod
    def of(cls, folder: Path, project: str) -> TrustRecord:
        """The record for a folder. Raises OSError when there is no such folder."""
        real = folder.resolve(strict=True)
        return cls(str(real), project, real.stat().st_uid)

    @property
    def file(self) -> Path:
        return paths.state_folder() / "trust" / f"{digest(self.path)}.json"

    def read(self) -> tuple[str, ...] | None:
        """The confirmed digests, oldest first; None when this folder was never confirmed, or the file is damaged."""
        try:
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            bound = (kept["form"], kept["path"], kept["project"], kept["owner"])
            if bound != (FORM, self.path, self.project, self.owner):
                return None
            return tuple(entry for entry in kept["confirmed"] if isinstance(entry, str))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def add(self, digests: Collection[str], *, create: bool) -> bool:
        """Confirms further digests; confirmations of other processes are kept.

        Returns False when there is no record and none may be created. Raises OSError.
        """
        if not create and self.read() is None:
            return False
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self.file.parent):
            known = self.read()
            if known is None and not create:
                return False
            confirmed = list(dict.fromkeys((*(known or ()), *sorted(digests))))[-MOST_DIGESTS:]
            if known is None or len(confirmed) != len(known):
                kept = {"form": FORM, "path": self.path, "project": self.project, "owner": self.owner}
                text = json.dumps(kept | {"confirmed": confirmed}, ensure_ascii=False, indent=0)
                write_whole(self.file, text.encode())
        return True

    def forget(self) -> bool:
        """Deletes the record; returns False if there was none. Raises OSError."""
        if not self.file.exists():
            return False
        with locked(self.file.parent):
            self.file.unlink(missing_ok=True)
        return True
