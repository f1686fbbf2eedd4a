"""Comments on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call


def test_comments_are_added_listed_changed_and_removed(demo: Path, call: Call) -> None:
    assert call("comments", demo).code == 1
    text = (demo / "manuscript").glob("*.md")
    words = sorted(text)[0].read_text(encoding="utf-8").split("\n\n")[-1].strip()[:20]
    added = call("comments", demo, "--chapter", 1, "--add", "Too soon?", "--on", words, "--as", "question")
    assert added.code == 0, added.err
    identity, place, kind, state, quoted, said, _author = added.out.splitlines()[-1].split("\t")
    assert (place, kind, state, quoted, said) == ("1", "question", "unresolved", f"“{words}”", "Too soon?")
    assert call("comments", demo, "--edit", identity, "--to", "Later.", "--as", "todo").code == 0
    assert call("comments", demo, "--resolve", identity).code == 0
    assert call("comments", demo).code == 1
    (row,) = json.loads(call("comments", demo, "--state", "all", "--json").out)["comments"]
    assert (row["words"], row["kind"], row["resolved"], row["position"]) == ("Later.", "todo", True, 1)
    assert call("comments", demo, "--reopen", identity, "--kind", "note").code == 0
    assert call("comments", demo, "--remove", identity).code == 0
    assert call("comments", demo, "--state", "all").code == 1
    assert call("comments", demo, "--remove", identity).code == 2
