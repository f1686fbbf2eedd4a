"""`import`, `bootstrap` and `references` as a user calls them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from flowcabal_tui.settings.project_file import ModelsSettings
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.desk import CHAPTERS, both, calls, endpoint, write_chapters


def priced(server: FaultServer) -> ModelsSettings:
    return both(endpoint(server, price_in=Decimal(1), price_out=Decimal(2)))


def test_an_import_offers_a_reading_and_a_reading_needs_a_yes(
    project: Make, call: Call, tmp_path: Path, server: FaultServer
) -> None:
    folder = project(priced(server))
    assert "3 chapters: at most" in call("import", folder, write_chapters(tmp_path / "texts")).out
    assert calls(server) == 0
    refused = call("bootstrap", folder)
    assert refused.code == 1 and "--yes" in refused.err
    assert calls(server) == 0
    read = call("bootstrap", folder, "--yes")
    assert read.code == 0
    assert f"{calls(server)} calls" in read.out.splitlines()[-1]
    assert "No imported chapter" in call("bootstrap", folder, "--yes").out


def test_a_cap_ends_a_reading_with_3_and_it_goes_on_with_a_higher_one(
    project: Make, call: Call, tmp_path: Path, server: FaultServer
) -> None:
    folder = project(priced(server))
    call("import", folder, write_chapters(tmp_path / "texts"))
    stopped = call("bootstrap", folder, "--yes", "--max-cost", "0.000001")
    assert stopped.code == 3 and "paused" in stopped.out
    assert "paused" in call("status", folder).out
    refused = call("bootstrap", folder, "--yes", "--from", 2)
    assert refused.code == 1 and "--drop" in refused.err, "before anything is quoted or asked"
    assert json.loads(call("status", folder, "--json").out)["bootstrap"]["state"] == "paused"
    assert call("bootstrap", folder, "--yes", "--max-cost", "5").code == 0


def test_a_paused_reading_is_given_up(project: Make, call: Call, tmp_path: Path, server: FaultServer) -> None:
    folder = project(priced(server))
    call("import", folder, write_chapters(tmp_path / "texts"))
    assert call("bootstrap", folder, "--drop").code == 1, "there is none"
    call("bootstrap", folder, "--yes", "--max-cost", "0.000001")
    assert call("bootstrap", folder, "--drop").code == 0
    assert "reading" not in call("status", folder).out
    assert call("bootstrap", folder, "--yes", "--from", 3).out.startswith("2 chapters")


def test_only_the_named_chapters_are_read(project: Make, call: Call, tmp_path: Path, server: FaultServer) -> None:
    folder = project(priced(server))
    call("import", folder, write_chapters(tmp_path / "texts"))
    assert call("bootstrap", folder, "--yes", "--from", 2, "--to", 3).out.startswith("2 chapters")


def test_a_reference_book_is_listed_read_searched_and_removed(project: Make, call: Call, tmp_path: Path) -> None:
    folder = project()
    put = call("import", folder, write_chapters(tmp_path / "texts"), "--as", "reference", "--title", "The Ferry")
    assert put.code == 0 and "3 parts" in put.out
    assert len(call("chapters", folder).out.splitlines()) == 1, "the writer's own book is as it was"
    (listed,) = json.loads(call("references", folder, "--json").out)
    book = listed["id"]
    assert (listed["title"], listed["parts"]) == ("The Ferry", 3)
    assert [line.split("\t")[1] for line in call("references", folder, book).out.splitlines()] == list(CHAPTERS)
    assert call("references", folder, book, 2).out.strip() == list(CHAPTERS.values())[1]
    assert f"reference/{book}/3" in call("references", folder, "--search", "rope").out
    assert call("references", folder, book, "--remove").code == 0
    assert call("references", folder).out == ""
    assert call("references", folder, book, "--remove").code == 1
