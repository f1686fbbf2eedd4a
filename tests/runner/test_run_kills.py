"""A short version of `python -m tests.bench run-kills`."""

from __future__ import annotations

from pathlib import Path

from tests.bench.echo import EchoServer
from tests.bench.run_kills import HANGS, Victim, Wrong


def test_a_run_whose_process_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    wrong = Wrong()
    with EchoServer() as server:
        victim = Victim(tmp_path / "run", server, wrong)
        victim.process(0.2)
        assert victim.ended or victim.process(HANGS) is not None
    broken = ("called_again", "acted_again", "ended_twice", "lost", "changed", "effects")
    assert {name: getattr(wrong, name) for name in broken} == dict.fromkeys(broken, 0)
    assert victim.kept.done
