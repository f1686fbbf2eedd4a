"""Every command ends with 2 when a name on the command line names nothing, and says what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.cli.commands import COMMANDS
from tests.cli.conftest import Call
from tests.trusting import confirmed

UNNAMED = ("new", "demo", "open", "doctor")
"""They make what is named, are a screen, or examine whatever is there."""
UNKNOWN = [
    ("{nowhere}", "neither a command nor a folder"),
    ("statsu {book}", "Did you mean status?"),
    *((f"{command} {{nowhere}}", "There is no FlowCabal project") for command in ("status", "chapters", "workflows")),
    ("import {nowhere} x.txt", "There is no FlowCabal project"),
    ("import {book} {nowhere}", "cannot be read"),
    ("import {book} {nowhere} --json", "--json can only be used with --dry-run"),
    ("import {book} {nowhere} --title T", "--title can only be used with --as reference"),
    ("chapters {book} --at 3", "--at can only be used with --add"),
    ("validate {book} chapter --write", "--write can only be used with --fix"),
    ("run {book} chapter --wait", "--wait can only be used with --keep"),
    ("bootstrap {nowhere}", "There is no FlowCabal project"),
    ("export {book} book.pdf", ".epub"),
    ("export {book} book.txt --platform none", "qidian"),
    ("export {book} book.txt --chapter 99", "The book has 7 chapters"),
    ("references {book} none", "Reference books: none"),
    ("run {book} none", "chapter@1"),
    ("run {book} chapter@9", "chapter@1"),
    ("run {book} chapter --chapter 99", "The book has 7 chapters"),
    ("run {book} chapter --target none", "Its nodes: plan, draft, polish"),
    ("run {book} chapter --again none", "Its nodes: plan, draft, polish"),
    ("run {book} chapter --freeze none", "Its nodes: plan, draft, polish"),
    ("run {book} chapter --keep none", "Its nodes: plan, draft, polish"),
    ("run {book} chapter --set none.x=1", "Its nodes: plan, draft, polish"),
    ("run {book} chapter --decide none=approve", "Its nodes: plan, draft, polish"),
    ("run {book} chapter --decide plan=none", "approve"),
    ("run {book} chapter --quote --target none", "Its nodes: plan, draft, polish"),
    ("run {book} --resume none", "There is no run none."),
    ("run {book} chapter --resume none", "It cannot be combined with: chapter"),
    ("keep {book} none draft", "There is no run none."),
    ("keep {book} --set-tags none a", "There is nothing named none"),
    ("decide {book} none approve", "Waiting: none"),
    ("runs {book} none", "There is no run none."),
    ("replay {book} none", "There is no run none."),
    ("session {nowhere}", "There is no FlowCabal project"),
    ("session", "Name its folder, or give --describe"),
    ("simulate {nowhere}", "Cannot read"),
    ("simulate {book} none", "chapter@1"),
    ("simulate {book} chapter --decide none=approve", "Its nodes: plan, draft, polish"),
    ("context {book} --chapter 99", "The book has 7 chapters"),
    ("context {book} --workflow none", "chapter@1"),
    ("context {book} --node none", "Its nodes: plan, draft, polish"),
    ("context {book} --chapter 2 --against none", "There is no run none."),
    ("ask {nowhere} Who?", "There is no FlowCabal project"),
    ("ask {book} Who? --conversation none", "There is nothing named none"),
    ("ask {book} Who? --chapter 99", "The book has 7 chapters"),
    ("search {nowhere} word", "There is no FlowCabal project"),
    ("blame {book} 99", "The book has 7 chapters"),
    ("blame {book} 1 --line 999", "Its last line with text"),
    ("validate {book} none", "chapter@1"),
    ("validate {nowhere}", "Cannot read"),
    ("convert {nowhere} --to ours", "Cannot read"),
    ("render {book} none", "chapter@1"),
    ("render {book} chapter --format bmp", "svg"),
    ("schema none", "prompt"),
    ("knowledge none", "install"),
    ("knowledge install --with none", "pip"),
    ("models {book} --use 99", "were found"),
    ("trust {nowhere}", "There is no FlowCabal project"),
    ("proof {nowhere}", "There is no FlowCabal project"),
    ("proof {book} --chapter 99", "The book has 7 chapters"),
    ("proof {book} --rule none", "wrong-words"),
    ("scenes {nowhere} 1", "There is no FlowCabal project"),
    ("scenes {book} 99", "The book has 7 chapters"),
    ("scenes {book} 1 --join 99", "The chapter has no such scene"),
    ("scenes {book} 1 --title x New", "x is not a whole number from 1"),
    ("lock {book} 3-5", "3-5 is not a range of chapters: write 7, 7..9, 7.. or ..9."),
    ("export {book} book.txt --chapter 3-7", "3-7 is not a range of chapters: write 7, 7..9, 7.. or ..9."),
    ("scenes {book} 1 --beats 1 {nowhere}", "Cannot read"),
    ("words {nowhere}", "There is no FlowCabal project"),
    ("words {book} --goal pages=3", "Available: book, chapter"),
    ("words {book} --goal day=many", "cannot be set: day"),
    ("outline {nowhere}", "There is no FlowCabal project"),
    ("outline {book} --chapter 99", "The book has 7 chapters"),
    ("outline {book} --part none", "lists the parts"),
    ("outline {book} --chapter 1 --model", "--model can only be used with --progress"),
    ("outline {book} --progress --model", "--model can only be used with --progress --chapter"),
    ("outline {book} --progress --whole", "--whole cannot be used with --progress"),
    ("proposals {book} --chapter 99", "The book has 7 chapters"),
    ("findings {book} --chapter 99", "The book has 7 chapters"),
    ("findings {book} --reason why", "--reason can only be used with --intended"),
    ("check {book} --chapter 5..99", "The book has 7 chapters"),
    ("impact {book} --chapter 99", "The book has 7 chapters"),
    ("impact {book} --name Crane", "--name OLD --to NEW"),
    ("impact {book} --name Crane --to Crane", "Write both names"),
    ("impact {book} --fact none --to words", "There is no such record"),
    ("comments {book} --chapter 99", "The book has 7 chapters"),
    ("names {book} --card none", "Nora Vale"),
    ("names {book} --edit none --field a=b", "Nora Vale"),
    ("names {book} --undefine none", "There is no kind none"),
    ("names {book} --fields a,b", "--fields can only be used with --define"),
    ("names {book} --card Nora --chapter 99", "The book has 7 chapters"),
    ("comments {book} --on words", "--on can only be used with --add"),
    ("comments {book} --add words", "Name it with --chapter N"),
    ("comments {book} --chapter 1 --add words --kind question", "Give the kind of the new comment with --as"),
    ("comments {book} --resolve 99", "There is nothing named 99"),
    ("lock {book} 99", "The book has 7 chapters"),
    ("unlock {book} 5..99", "The book has 7 chapters"),
    ("passes {book} none", "Passes: structure, continuity"),
    ("passes {book} structure --item 1", "--item can only be used with --tick"),
    ("passes {book} structure --checks none", "ages"),
    ("revise {book} --instruction shorter", "Name it with --chapter N"),
    ("revise {book} --chapter 99 --instruction shorter", "The book has 7 chapters"),
    ("revise {book} --chapter 1 --paragraphs 999 --instruction shorter", "paragraphs"),
    ("revise {book} --take 99", "There is nothing named 99"),
    ("revise {book} --only 1", "--only can only be used with --take"),
    ("profile {book} none", "lists the profiles"),
    ("profile {book} profiles/characters/Nora-Vale --pin 99999", "Its states: "),
    ("delete {book} 99", "Give a chapter's place"),
    ("undelete {book} 99", "Give a chapter's place"),
    ("changes {nowhere}", "There is no FlowCabal project"),
    ("undo {book} 99999", "There is nothing named 99999"),
    ("purge {book} none --yes", "Give a chapter's place"),
    ("rebuild {book} --what none", "profiles"),
    ("backup {nowhere} x.zip", "There is no FlowCabal project"),
    ("restore {nowhere} x", "There is no file"),
    ("rescue {nowhere}", "There is no FlowCabal project"),
    ("build {nowhere} wish", "There is no FlowCabal project"),
    ("build {book} wish --offline --template none", "chapter@1"),
    ("update {book} none wish --offline", "chapter"),
    ("execute {book} none", "chapter@1"),
    ("actions {nowhere}", "There is no FlowCabal project"),
    ("builds {book} build-99", "There is no build build-99"),
    ("decide {book} build-99 approve", "There is no build build-99"),
    ("candidates {book} none", "There is no comparison none."),
    ("candidates {book} --workflow none --node draft", "chapter@1"),
    ("candidates {book} --workflow chapter --node none", "Its nodes: plan, draft, polish"),
    ("candidates {book} --choose A", "Name the comparison."),
    ("bench context {nowhere}", "There is no FlowCabal project"),
    ("bench check --own {nowhere} --rules-only", "There is no FlowCabal project"),
    ("bench check --own {book} --erring 1", "--own plants its own rows"),
    ("bench check --novels {nowhere} --rules-only", "Give --novels, --rows and --out, or --own"),
    ("config none", "keys"),
    ("completion none", "zsh"),
]


@pytest.fixture
def book(sample: Path) -> Path:
    """No command here changes it: it is shared."""
    return confirmed(sample)


@pytest.mark.parametrize(("words", "said"), UNKNOWN, ids=[words for words, _said in UNKNOWN])
def test_a_name_that_names_nothing_ends_with_2_and_says_what_there_is(
    book: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = call(*(word.format(book=book, nowhere=tmp_path / "nowhere") for word in words.split()))
    assert ended.code == 2, ended.err
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not ended.out
    assert [path.name for path in tmp_path.iterdir()] == ["home"], "what the user has confirmed is kept there"


def test_every_command_is_asked() -> None:
    assert {*COMMANDS} - {words.split()[0] for words, _said in UNKNOWN} == {*UNNAMED}
