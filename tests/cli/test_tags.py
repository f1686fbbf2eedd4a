"""Tags of kept outputs: given with the keep, set later, listed, and used to list only some."""

from __future__ import annotations

from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint


def test_tags_are_given_set_listed_and_searched(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    run = call("run", folder, "quick-draft", "--chapter", 1, "--json").told("run:started")[0]["run"]
    assert call("keep", folder, run, "draft", "--tag", "#siege", "--tag", "siege").code == 0
    (row,) = call("keep", folder).out.splitlines()
    assert row.endswith("\t#siege")
    output = row.partition("\t")[0]
    call("keep", folder, "--set-tags", output, "night, \x1b[2Jferry, night")
    assert call("keep", folder, "--tag", "ferry").out.rstrip().endswith("\t#night #ferry")
    assert call("keep", folder, "--tag", "ferry", "--tag", "siege").out == ""
    call("keep", folder, "--set-tags", output, "")
    assert "#" not in call("keep", folder).out.replace("draft#1", "")
