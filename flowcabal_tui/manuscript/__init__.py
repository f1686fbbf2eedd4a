"""Novels as files: import with splitting into chapters, export, and the Markdown mirror of the kept chapters."""

from __future__ import annotations

from flowcabal_tui.manuscript.mirror import mirror_digest, mirror_name, parse_mirror, render_mirror
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.manuscript.writer import EXPORT_SUFFIXES, export_manuscript, write_atomically

__all__ = [
    "EXPORT_SUFFIXES",
    "export_manuscript",
    "mirror_digest",
    "mirror_name",
    "parse_mirror",
    "read_manuscript",
    "render_mirror",
    "write_atomically",
]
