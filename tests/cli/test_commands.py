"""Every other command: what it prints, and which code it ends with."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import unicodedata
from contextlib import closing
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest

from flowcabal_tui import __version__
from flowcabal_tui.cli.commands import COMMANDS
from flowcabal_tui.cli.reading import task_rows
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.settings.project_file import ModelsSettings
from flowcabal_tui.store.file.lock import ProjectLock
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import CHAPTERS, both, calls, endpoint, write_chapters
from tests.waiting import PATIENCE


def test_the_version_is_printed(call: Call) -> None:
    for words in (["--version"], ["-V"], ["--lang", "zh", "--version"]):
        assert call(*words).out.strip() == f"flowcabal-tui {__version__}"


def test_words_that_are_no_command_end_with_2(call: Call, tmp_path: Path) -> None:
    assert call("run").code == 2
    assert call("export", tmp_path).code == 2
    assert call("chapters", tmp_path).code == 2


def test_each_command_has_a_function() -> None:
    for place in COMMANDS.values():
        module, _dot, function = place.rpartition(".")
        assert callable(getattr(import_module(f"flowcabal_tui.cli.{module}"), function)), place


def test_the_screen_needs_a_terminal(demo: Path) -> None:
    opened = subprocess.run(
        [sys.executable, "-m", "flowcabal_tui", "open", str(demo)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert opened.returncode == 1
    assert "terminal" in opened.stderr
    assert "Traceback" not in opened.stderr
    assert "\x1b" not in opened.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_an_error_in_words(demo: Path, unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "flowcabal_tui", "chapters", str(demo)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("flowcabal-tui: The output cannot be written.")
    assert len(ended.stderr.splitlines()) == 3


def test_a_new_project_is_made_once(call: Call, tmp_path: Path) -> None:
    made = call("new", tmp_path / "novel", "--name", "Die Fähre", "--language", "zh", "--offline")
    assert made.code == 0
    assert "Die Fähre" in (tmp_path / "novel" / "flowcabal.toml").read_text("utf-8")
    again = call("new", tmp_path / "novel")
    assert again.code == 1
    assert "already" in again.err
    assert "user: offline" in call("models", tmp_path / "novel").out


@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_name_names_no_folder(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("new", blank), ("status", blank), ("backup", "novel", blank), (blank,)):
        refused = call(*words)
        assert refused.code == 2, words
        assert "empty name" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_an_import_can_be_looked_at_first(project: Make, call: Call, tmp_path: Path) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    looked = call("import", folder, texts, "--dry-run")
    assert [line.split("\t")[2] for line in looked.out.splitlines()[:-1]] == list(CHAPTERS)
    assert len(call("chapters", folder).out.splitlines()) == 1
    assert call("import", folder, texts, "--first", 2).code == 0
    chapters = json.loads(call("chapters", folder, "--json").out)
    assert [chapter["title"] for chapter in chapters[1:]] == list(CHAPTERS)[:2]
    assert call("import", folder, tmp_path / "nothing.txt").code == 2


@pytest.mark.parametrize("form", ["md", "epub", "docx"])
def test_a_book_is_exported_and_read_again(demo: Path, call: Call, project: Make, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"book.{form}"
    assert call("export", demo, target).out.strip() == str(target)
    other = project()
    assert call("import", other, target).code == 0
    titles = [chapter["title"] for chapter in json.loads(call("chapters", other, "--json").out)][1:]
    assert [title for title in titles if "Thursday Boat" in title]
    assert len(titles) == 6


def test_a_plain_text_has_every_title_and_no_mark_of_ours(demo: Path, call: Call, tmp_path: Path) -> None:
    assert call("export", demo, tmp_path / "book.txt").code == 0
    text = (tmp_path / "book.txt").read_text("utf-8")
    written = [chapter for chapter in json.loads(call("chapters", demo, "--json").out) if chapter["version"]]
    assert [chapter for chapter in written if f"\n{chapter['title']}\n" in text] == written
    assert "#" not in text


def test_an_unknown_form_of_book_is_refused(demo: Path, call: Call, tmp_path: Path) -> None:
    refused = call("export", demo, tmp_path / "book.pdf")
    assert refused.code == 2
    assert not (tmp_path / "book.pdf").exists()


def test_a_file_without_an_ending_names_no_form(demo: Path, call: Call, tmp_path: Path) -> None:
    exported = call("export", demo, tmp_path / "book")
    assert exported.code == 2
    assert "Unknown format: book" in exported.err
    assert ".epub" in exported.err


def test_the_context_is_shown_without_a_call(project: Make, server: FaultServer, call: Call, tmp_path: Path) -> None:
    folder = project(both(endpoint(server)))
    call("import", folder, write_chapters(tmp_path / "texts"))
    shown = call("context", folder, "--node", "plan", "--chapter", 3)
    assert shown.code == 0
    assert "Chapter 1 The Ferry" in shown.out
    receipt = json.loads(call("context", folder, "--node", "plan", "--chapter", 3, "--json").out)
    assert receipt["used"] <= receipt["budget"]
    assert not [source for source in receipt["sources"] if "Bell" in source["title"]]
    assert calls(server) == 0
    assert call("context", folder, "--node", "plan", "--chapter", 99).code == 2


def test_the_scene_of_a_chapter_is_kept_and_shown(
    project: Make, server: FaultServer, call: Call, tmp_path: Path
) -> None:
    folder = project(both(endpoint(server)))
    call("import", folder, write_chapters(tmp_path / "texts"))
    kept = call("context", folder, "--chapter", 3, "--who", "Ines Marlow, a stranger", "--kind", "turn")
    assert "who\tInes Marlow, a stranger\tset by you" in kept.out
    assert "kind of scene\tturning point\tset by you" in call("context", folder, "--chapter", 3).out
    assert "turning point" not in call("context", folder, "--chapter", 2).out
    shown = call("context", folder, "--chapter", 3, "--by-rule", "who", "--by-rule", "kind")
    assert "set by you" not in shown.out
    assert call("context", folder, "--kind", "turn").code == 2
    assert calls(server) == 0


def test_two_contexts_are_compared(project: Make, server: FaultServer, call: Call, tmp_path: Path) -> None:
    folder = project(both(endpoint(server)))
    call("import", folder, write_chapters(tmp_path / "texts"))
    assert "The two receipts are the same." in call("context", folder, "--chapter", 3, "--against", 3).out
    compared = call("context", folder, "--chapter", 3, "--against", 1, "--json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)["difference"]
    assert "Chapter 1" in " ".join(source["title"] for source in found["new"])
    lines = call("context", folder, "--chapter", 1, "--against", 3).out.splitlines()
    assert any(line.startswith("-") and "Chapter 1" in line for line in lines)
    assert call("context", folder, "--chapter", 3, "--workflow", "none").code == 2


def test_workflows_are_listed_and_validated(demo: Path, call: Call, tmp_path: Path) -> None:
    documents = json.loads(call("workflows", demo, "--json").out)
    assert {"chapter", "quick-draft"} <= {document["id"] for document in documents}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(documents[0]), encoding="utf-8")
    assert call("validate", file).code == 0
    file.write_text(json.dumps(documents[0] | {"nodes": []}), encoding="utf-8")
    broken = call("validate", file)
    assert (broken.code, "NO_NODES" in broken.out) == (1, True)
    for text in ("{", "[1]", '{"id": "a", "nods": []}', ""):
        file.write_text(text, encoding="utf-8")
        assert call("validate", file).code == 2, text
    assert call("validate", tmp_path / "nothing.json").code in (1, 2)


def test_doctor_asks_each_model_once_and_the_agents_model_for_a_structured_answer_too(
    project: Make, server: FaultServer, call: Call
) -> None:
    folder = project(both(endpoint(server)))
    well = call("doctor", folder, "--json")
    assert well.code == 0, well.out
    assert calls(server) == 2, "both roles have the same model"
    assert "structured answers" in well.out and " s)" in well.out and ".," not in well.out
    server.push({"status": 401}, {"status": 401})
    ill = call("doctor", folder)
    assert ill.code == 1
    assert "FAIL model user" in ill.out


def test_doctor_names_a_missing_key_and_calls_nobody(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server, api_key_env="WRITERS_KEY")))
    ill = call("doctor", folder)
    assert ill.code == 1
    assert "WRITERS_KEY" in ill.out
    assert "ok   database" in ill.out
    assert calls(server) == 0


def test_doctor_says_how_to_confirm_a_model_that_has_changed(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    file = folder / "flowcabal.toml"
    file.write_text(file.read_text(encoding="utf-8").replace(server.url, "https://models.example"), encoding="utf-8")
    ill = call("doctor", folder)
    assert ill.code == 1
    assert "`flowcabal-tui trust PROJECT`" in ill.out and "`flowcabal-tui models PROJECT`" not in ill.out
    assert calls(server) == 0


@pytest.mark.parametrize("command", ["delete", "undelete", "undo"])
def test_yes_of_a_command_that_shows_no_price_does_not_promise_one(call: Call, command: str) -> None:
    words = " ".join(call(command, "--help").out.split())
    assert "do it without being asked" in words and "it is still shown" not in words


def test_doctor_names_the_line_of_a_user_setting_that_is_none(call: Call, own_folders: Path) -> None:
    (own_folders / "config").mkdir(parents=True, exist_ok=True)
    (own_folders / "config" / "config.toml").write_text('theem = "ink"\n', encoding="utf-8")
    ill = call("doctor")
    assert ill.code == 1
    assert "FAIL config.toml" in ill.out
    assert "line 1: theem is not a setting. Did you mean theme?" in ill.out


def test_doctor_names_keys_and_ids_of_the_screen_that_do_not_exist(call: Call, own_folders: Path) -> None:
    settings = own_folders / "config" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('[keys]\n"run.strat" = "f7"\n"run.stop" = "f99"\n', encoding="utf-8")
    told = call("doctor")
    assert "Did you mean run.start?" in told.out and "run.stop is set to f99" in told.out


def test_doctor_goes_on_when_the_project_is_open_elsewhere_and_damaged(demo: Path, call: Call) -> None:
    (demo / ".flowcabal" / "project.db").write_bytes(b"not a database, surely" * 500)
    lock = ProjectLock(demo / ".flowcabal" / "lock", datetime(2026, 1, 1, tzinfo=UTC))
    try:
        ill = call("doctor", demo)
    finally:
        lock.release()
    assert ill.code == 1
    assert "note database" in ill.out and "FAIL database" in ill.out and "flowcabal-tui rescue" in ill.out


def test_doctor_looks_at_the_disk_of_the_project(demo: Path, call: Call) -> None:
    out = call("doctor", demo).out
    assert any(line.endswith("MiB") and str(demo) in line for line in out.splitlines())
    assert "network file system" not in out


def test_doctor_names_a_network_file_system(demo: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowcabal_tui.store.file.filesystem.mounts", lambda: "1 0 0:1 / / rw - nfs4 server:/ rw")
    out = call("doctor", demo).out
    assert "note file system: The project is on a network file system (nfs4)." in out
    assert "disk of this machine" in out


def test_status_and_doctor_count_rows_that_cannot_be_read(demo: Path, call: Call) -> None:
    with closing(sqlite3.connect(demo / ".flowcabal" / "project.db")) as database, database:
        database.execute("UPDATE run SET request='{', at='?'")
        database.execute("UPDATE entity SET aliases='{'")
    words = r"\d+ entr(y|ies) cannot be read and (is|are) left out \(names\)\..*`flowcabal-tui rescue PROJECT`"
    assert re.search(words, call("status", demo).out)
    found = call("doctor", demo)
    assert found.code == 1
    assert re.search(rf"FAIL +database: {words}", found.out)
    assert json.loads(call("status", demo, "--json").out)["skipped"]["names"] > 0


def test_doctor_names_every_row_in_the_language_of_the_user(demo: Path, call: Call) -> None:
    out = call("--lang", "zh", "doctor", demo).out
    assert "写作模型 user" in out and "缓存文件夹" in out and "embedding" not in out.replace("嵌入模型 embedding", "")
    assert ": " not in out and " s)" not in out


def test_a_new_project_begins_with_the_models_of_the_user(call: Call, own_folders: Path, tmp_path: Path) -> None:
    (own_folders / "config").mkdir(parents=True, exist_ok=True)
    (own_folders / "config" / "config.toml").write_text('[models.user]\nmodel = "qwen3"\n', encoding="utf-8")
    made = call("new", tmp_path / "novel")
    assert "No model is set yet" not in made.out
    assert "qwen3" in call("models", tmp_path / "novel").out


def test_models_found_here_are_proposed_and_taken_on_demand(
    project: Make, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-a-secret-of-the-writer-0123456789")
    folder = project()
    listed = call("models", folder)
    assert "user: not set" in listed.out
    assert "costs money" in listed.out
    assert call("models", folder, "--use", 99).code == 2
    taken = call("models", folder, "--use", 1)
    assert taken.code == 0
    assert "deepseek" in taken.out.splitlines()[0]
    assert "sk-a-secret" not in (folder / "flowcabal.toml").read_text("utf-8") + listed.out + taken.out
    assert "user: offline" in call("models", folder, "--offline").out


def test_a_model_that_is_taken_leaves_that_of_vectors_alone(
    project: Make, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-a-secret-of-the-writer-0123456789")
    vectors = Endpoint(model="bge-m3", base_url="http://127.0.0.1:9/v1")
    folder = project(ModelsSettings(embedding=vectors))
    assert "embedding: openai bge-m3" in call("models", folder, "--use", 1).out


def test_settings_that_cannot_be_saved_are_left_alone(
    project: Make, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project()

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flowcabal_tui.cli.settings.change_project", full)
    refused = call("models", folder, "--offline")
    assert refused.code == 2
    assert "The disk is full\nNothing was changed." in refused.err


def test_where_settings_live(call: Call, own_folders: Path) -> None:
    printed = dict(line.split("\t") for line in call("config", "path").out.splitlines())
    assert {"config", "secrets", "state", "cache", "data"} == set(printed)
    assert all(path.startswith(str(own_folders)) for path in printed.values())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(call: Call, shell: str) -> None:
    script = call("completion", shell)
    assert script.code == 0
    for word in ("run", "decide", "doctor", "chapter", "fresh-context"):
        assert word in script.out


def test_bash_accepts_its_completion(call: Call) -> None:
    checked = subprocess.run(["bash", "-n"], input=call("completion", "bash").out, text=True, capture_output=True)
    assert checked.stderr == ""


def test_status_says_what_was_spent(project: Make, server: FaultServer, call: Call) -> None:
    folder = project(both(endpoint(server)))
    call("run", folder, "quick-draft", "--chapter", 1, "--plain")
    status = call("status", folder)
    assert "done" in status.out
    assert "0 paid calls" in status.out and "cost $0.00" in status.out, "the model is on this machine"
    assert json.loads(call("status", folder, "--json").out)["totals"]["calls"] == calls(server)


def test_status_counts_background_tasks_and_lists_those_with_an_error_alone() -> None:
    source = Digest("d" * 64)
    tasks = [BackgroundTask(n, "knowledge", f"manuscript/{n}", source, "waiting") for n in range(40)]
    failed = BackgroundTask(40, "l1", "chapter/7", source, "failed", error="no model")
    assert [*task_rows([*tasks, failed])] == [
        ("background work", "knowledge server", "40 tasks", "queued"),
        ("background work", "summary", "chapter/7", "failed", "no model"),
    ]


def test_a_setting_that_is_none_ends_with_2_and_names_its_line(project: Make, call: Call) -> None:
    folder = project()
    file = folder / "flowcabal.toml"
    file.write_text(file.read_text("utf-8") + "\n[budget]\nmax_tokns = 5\n", encoding="utf-8")
    refused = call("status", folder)
    assert refused.code == 2
    assert f"line {len(file.read_text('utf-8').splitlines())}" in refused.err
    assert "max_tokens" in refused.err


def test_words_are_chinese_on_demand(project: Make, call: Call) -> None:
    assert call("--lang", "zh", "models", project()).out.startswith("user: 未设置")


def test_states_kinds_and_marks_are_told_in_the_language_of_the_user(demo: Path, call: Call) -> None:
    run = ("run", demo, "quick-draft", "--chapter", 7, "--plain")
    commands = (run, ("status", demo), ("context", demo, "--node", "plan", "--chapter", 7), ("doctor", demo))
    told = "\n".join(call("--lang", "zh", *words).out for words in commands)
    for word in ("等你决定", "文风与设定\t全文\t", "正常"):
        assert word in told
    for word in ("done", "meta\t", "L2\t", "ok  ", "mirror", "fresh"):
        assert word not in told


def test_what_the_parser_says_is_in_the_users_language(call: Call) -> None:
    missing = call("--lang", "zh", "keep")
    assert missing.code == 2
    assert missing.err.startswith("用法：") and "缺少必需的参数" in missing.err
    assert "无法识别的参数：--nothing" in call("--lang", "zh", "status", "x", "--nothing").err
    helped = call("--lang", "zh", "status", "--help").out
    assert "显示本帮助并退出" in helped and "usage" not in helped and "options" not in helped


def test_chinese_help_is_laid_out_by_cells(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def cells(row: str) -> int:
        return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in row)

    monkeypatch.setenv("COLUMNS", "60")
    _usage, found = call("--lang", "zh", "candidates", "--help").out.split("位置参数：\n")
    _arguments, options = found.split("选项：\n")
    assert max(map(cells, options.splitlines())) <= 60 - 2
    shown = ("项目的文件夹", "与 --node 同用：该节点", "要对比其输出的节点", "按字母选用这份候选稿")
    rows = [next(row for row in found.splitlines() if words in row) for words in shown]
    assert len({cells(row.partition(words)[0]) for row, words in zip(rows, shown, strict=True)}) == 1
    assert not any(row.strip()[:1] in "，。、；：" for row in options.splitlines() if row.strip())


def test_what_only_looks_works_beside_the_program_that_writes(demo: Path, call: Call, tmp_path: Path) -> None:
    held = ProjectLock(demo / ".flowcabal" / "lock", datetime.now(UTC))
    try:
        for words in (
            ("run", demo, "chapter", "--chapter", 7, "--quote"),
            ("import", demo, demo / "manuscript", "--dry-run"),
            ("backup", demo, tmp_path / "book.zip"),
            ("export", demo, tmp_path / "book.md"),
        ):
            assert call(*words).code == 0, words
        assert "process" in call("run", demo, "chapter", "--chapter", 7).err
    finally:
        held.release()


def test_the_help_in_chinese_names_values_in_chinese(call: Call) -> None:
    assert "--title 标题" in call("--lang", "zh", "import", "--help").out
    assert "--volume 卷" in call("--lang", "zh", "chapters", "--help").out
