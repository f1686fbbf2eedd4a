"""What a developer is offered is there: the targets of make, hooks before a commit, the workflow of a code host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from flowcabal_tui.cli import main
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.tui.shared.words import NODE_KINDS

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_make_help_lists_every_target() -> None:
    shown = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = re.search(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)
    assert targets is not None
    assert {line.split()[1] for line in shown.splitlines()} == set(targets[1].split())
    assert all(len(line.split()) > 2 for line in shown.splitlines()), "a target says what it does"


def test_hooks_before_a_commit_run_what_make_check_runs_and_fetch_nothing() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert {source["repo"] for source in config["repos"]} == {"local"}
    hooks = [hook for source in config["repos"] for hook in source["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system"}
    for hook in hooks:
        command = hook["entry"].removeprefix(".venv/bin/").removesuffix(" --force-exclude")
        assert f"$(BIN)/{command}" in MAKEFILE


def test_the_workflow_of_a_code_host_runs_the_same_script() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["tests"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == ["bash .ci/run"]


def test_on_windows_the_command_names_wsl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert main(["status"]) == 2
    assert "WSL" in capsys.readouterr().err


def test_the_files_that_the_recipes_name_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:flowcabal_tui|tests|docs|\.github|\.ci)/[^ `]+)`", page))
    assert len(named) > 20
    assert [path for path in sorted(named) if "NAME" not in path and not (ROOT / path).exists()] == []


def test_the_screen_has_words_for_every_node_kind() -> None:
    assert set(NODE_KINDS) == set(kinds())
