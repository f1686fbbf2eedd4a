"""The names that rules find in four novels, against labels made by hand (see `tests/agents/labelled_names.py`)."""

from __future__ import annotations

import os
from pathlib import Path

from tests.agents.conftest import NOVELS
from tests.agents.labelled_names import NOVELS as LABELLED
from tests.agents.labelled_names import PRECISION, Measured, measured
from tests.bench.report import Figure, Missing


def measure() -> list[Figure]:
    """Precision of a hundred names and recall of a hundred mentions of each novel."""
    named = os.environ.get("FLOWCABAL_BENCH_CONTEXT")
    novels = Path(named) / "novels" if named else NOVELS
    if not novels.is_dir():
        raise Missing("the context benchmark is not here; name it with FLOWCABAL_BENCH_CONTEXT")
    return [figure for slug in LABELLED for figure in _figures(slug, measured(novels, slug))]


def _figures(slug: str, found: Measured) -> tuple[Figure, ...]:
    wrong = f" ({', '.join(found.wrong)})" if found.wrong else ""
    return (
        Figure(
            f"{slug}: precision, was {found.precision_before:.2f}{wrong}",
            f"{found.precision:.2f}",
            f">= {PRECISION:g}",
            found.precision >= PRECISION and len(found.unlabelled) <= 5,
        ),
        Figure(
            f"{slug}: recall of mentions",
            f"{found.recall:.2f}",
            f">= {found.recall_before:.2f}",
            found.recall >= found.recall_before,
        ),
        *([Figure(f"{slug}: drawn, not labelled", str(len(found.unlabelled)))] if found.unlabelled else ()),
    )
