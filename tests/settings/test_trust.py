"""The record of what was confirmed: what it is bound to, and that two writers lose nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from flowcabal_tui.domain.addresses import host_of, is_loopback
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.key_hosts import bind_keys, key_hosts
from flowcabal_tui.settings.project_file import ModelsSettings
from flowcabal_tui.settings.trust import TrustRecord
from flowcabal_tui.settings.user_file import UserSettings, change_user, load_user


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "novel").mkdir()
    return tmp_path / "novel"


def test_a_record_is_private_and_holds_for_one_path_project_and_owner(folder: Path, tmp_path: Path) -> None:
    record = TrustRecord.of(folder, "id-1")
    assert record.read() is None
    record.add(["b", "a"], create=True)
    assert record.read() == ("a", "b")
    assert record.file.stat().st_mode & 0o777 == 0o600 and record.file.parent.stat().st_mode & 0o777 == 0o700
    assert TrustRecord.of(folder, "id-2").read() is None
    assert TrustRecord(record.path, "id-1", record.owner + 1).read() is None
    (tmp_path / "copy").mkdir()
    assert TrustRecord.of(tmp_path / "copy", "id-1").read() is None
    (tmp_path / "link").symlink_to(folder)
    assert TrustRecord.of(tmp_path / "link", "id-1").read() == ("a", "b"), "a link is the folder that it leads to"


def test_renewing_makes_no_record_and_forgetting_takes_it_away(folder: Path) -> None:
    record = TrustRecord.of(folder, "id")
    assert not record.add(["a"], create=False) and record.read() is None
    record.add([], create=True)
    assert record.add(["a"], create=False) and record.read() == ("a",)
    assert record.forget() and record.read() is None and not record.forget()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"form": "flowcabal-trust/0"}', "null", "[" * 10_000])
def test_a_damaged_trust_record_reads_as_none(folder: Path, text: str) -> None:
    record = TrustRecord.of(folder, "id")
    record.add(["a"], create=True)
    record.file.write_text(text, encoding="utf-8")
    assert record.read() is None


def confirm(folder: Path, number: int) -> None:
    for part in range(10):
        TrustRecord.of(folder, "id").add([f"{number}-{part}"], create=True)
        bind_keys([(f"KEY_{number}", f"host-{part}")])


def test_processes_that_confirm_at_once_write_one_valid_record(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=confirm, args=(folder, number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    record = TrustRecord.of(folder, "id")
    assert sorted(record.read() or ()) == sorted(f"{number}-{part}" for number in range(4) for part in range(10))
    assert [each.name for each in record.file.parent.iterdir()] == [record.file.name]
    assert json.loads(record.file.read_text("utf-8"))["owner"] == os.getuid()
    assert all(len(load_user().key_hosts[f"KEY_{number}"]) == 10 for number in range(4))


def test_models_of_the_users_own_file_bind_their_keys_and_their_way(folder: Path) -> None:
    model = Endpoint(model="m", base_url="http://192.0.2.9:8000/v1", api_key_env="MINE", secret="mine")
    change_user(lambda _before: UserSettings(models=ModelsSettings(user=model)))
    known = key_hosts()
    assert known.allows("MINE", "192.0.2.9:8000") and known.allows("mine", "192.0.2.9:8000")
    assert not known.allows("MINE", "192.0.2.9") and not known.allows("OTHER", "192.0.2.9:8000")
    assert known.plain == {"192.0.2.9:8000"}


def test_binding_keeps_the_users_comments(folder: Path) -> None:
    paths.user_file().parent.mkdir(parents=True)
    paths.user_file().write_text('theme = "paper"  # mine\n', encoding="utf-8")
    bind_keys([("KEY", "api.example.net"), ("", "x"), ("KEY", "")])
    bind_keys([("KEY", "api.example.net")])
    assert "# mine" in paths.user_file().read_text("utf-8")
    assert load_user().key_hosts == {"KEY": ("api.example.net",)}


@pytest.mark.parametrize(
    ("url", "host", "near"),
    [
        ("https://api.Example.net:443/v1", "api.example.net", False),
        ("http://api.example.net:8080", "api.example.net:8080", False),
        ("https://me:pw@api.example.net./v1", "api.example.net", False),
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434", True),
        ("http://[::1]:80/v1", "[::1]", True),
        ("http://localhost.evil.net", "localhost.evil.net", False),
        ("http://127.0.0.1.evil.net", "127.0.0.1.evil.net", False),
        ("http://127.0.0.1@evil.net/", "evil.net", False),
        ("", "", False),
        ("http://x:y", "", False),
    ],
)
def test_hosts_are_told_apart(url: str, host: str, near: bool) -> None:
    assert (host_of(url), is_loopback(url)) == (host, near)
