"""The check of licences lets through what it should, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.licences import Refusal, declared, installed, is_allowed, problems, refusals, unchecked


def distribution(folder: Path, name: str, *lines: str) -> None:
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    fields = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines])
    (about / "METADATA").write_text(f"{fields}\n", encoding="utf-8")


def test_what_is_installed_here_is_permissive() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    "line",
    [
        "License-Expression: AGPL-3.0-or-later",
        "License-Expression: MIT AND GPL-3.0-only",
        "License: AGPL-3.0",
        "Classifier: License :: OSI Approved :: GNU Affero General Public License v3",
        "Summary: no licence at all",
        "License: do as you please",
    ],
)
def test_a_licence_that_is_refused_or_unknown_fails_with_the_name(tmp_path: Path, line: str) -> None:
    distribution(tmp_path, "honest", "License-Expression: MIT", "Requires-Dist: evil>=1")
    distribution(tmp_path, "evil", line)
    assert [one.name for one in refusals(["honest"], installed([str(tmp_path)]))] == ["evil"]


@pytest.mark.parametrize(
    "line",
    [
        "License-Expression: Apache-2.0 OR GPL-2.0-only",
        "License-Expression: (MIT OR AGPL-3.0-only) AND Apache-2.0 WITH LLVM-exception",
        "License: MIT License",
        "Classifier: License :: OSI Approved :: BSD License",
    ],
)
def test_a_permissive_licence_passes(tmp_path: Path, line: str) -> None:
    distribution(tmp_path, "good", line)
    assert refusals(["good"], installed([str(tmp_path)])) == []


def test_what_is_not_installed_is_not_taken_as_checked(tmp_path: Path) -> None:
    assert refusals(["absent"], installed([str(tmp_path)])) == [
        Refusal("absent", "is not installed, so its licence cannot be read")
    ]


def test_the_server_beside_us_may_not_come_with_the_base_install(tmp_path: Path) -> None:
    name = declared()["knowledge"][0].partition("=")[0]
    real = installed()
    distribution(tmp_path, "textual", "License-Expression: MIT", f"Requires-Dist: {name}")
    fake = installed([str(tmp_path)])
    found = problems(lambda asked: fake(asked) or real(asked))
    assert Refusal(name, "belongs to the extra knowledge and is installed without it") in found


def test_an_import_of_something_that_was_not_checked_is_found(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("import json\nfrom pytest import raises\n", encoding="utf-8")
    assert [one.name for one in unchecked(tmp_path, ["lxml"])] == ["pytest"]


@pytest.mark.parametrize("expression", ["", "MIT AND", "(MIT", "MIT)", "GPL-3.0-only", "MIT GPL-3.0-only", "MIT AND x"])
def test_an_expression_that_cannot_be_read_is_not_allowed(expression: str) -> None:
    assert not is_allowed(expression)
