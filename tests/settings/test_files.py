"""Settings files: errors name file, line and the nearest key; keys stay out of the project."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ProjectNotFound, SettingsError
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.book_summary import book_state
from flowcabal_tui.settings.file_modes import file_modes
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, ProjectSettings, load_project, save_project
from flowcabal_tui.settings.recent import (
    RECENT_LIMIT,
    recent_projects,
    remember_project,
)
from flowcabal_tui.settings.screen import ScreenSettings, load_screen
from flowcabal_tui.settings.secrets import find_key, read_secrets
from flowcabal_tui.settings.toml_edit import edited
from flowcabal_tui.settings.user_file import (
    UserSettings,
    change_user,
    load_user,
)
from flowcabal_tui.system.files import PRIVATE

WHOLE = """\
# my book
[project]
name = "雾城"
language = "zh"

[models.user]
model = "m"  # the good one
api_key_env = "MY_KEY"
price_in = 1.25

[budget]
context_tokens = 20000
"""


def write(folder: Path, text: str) -> Path:
    (folder / "flowcabal.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_whole_file_is_read(tmp_path):
    settings = load_project(write(tmp_path, WHOLE))
    assert settings.project.name == "雾城"
    assert settings.models.of("agent") == settings.models.user
    assert settings.models.of("user").price_in == Decimal("1.25")
    assert settings.models.of("embedding") is None


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("context_tokens", "context_token", "line 12: budget.context_token is not a setting. Did you mean context_tok"),
        ("language", "langage", "line 4: project.langage is not a setting. Did you mean language?"),
        ('"zh"', '"fr"', "line 4: project.language"),
        ("20000", "-5", "line 12: budget.context_tokens"),
        ('api_key_env = "MY_KEY"', 'api_key = "sk-secret"', "a key does not belong in the project's file"),
    ],
)
def test_a_bad_setting_is_named_with_its_line(tmp_path, before, after, said):
    with pytest.raises(SettingsError) as caught:
        load_project(write(tmp_path, WHOLE.replace(before, after)))
    assert said in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_broken_toml_is_named_with_its_line(tmp_path):
    with pytest.raises(SettingsError, match=r"line 3"):
        load_project(write(tmp_path, '[project]\nname = "a"\nlanguage = zh\n'))


def test_settings_in_another_encoding_say_what_to_do(tmp_path):
    (tmp_path / "flowcabal.toml").write_text('[project]\nname = "渡口"\n', encoding="gb18030")
    with pytest.raises(SettingsError) as refused:
        load_project(tmp_path)
    assert (refused.value.detail, refused.value.advice) == ("Its text is not UTF-8.", "Save it as UTF-8 and try again.")


def test_a_folder_without_a_project_says_what_to_do(tmp_path):
    with pytest.raises(ProjectNotFound, match="flowcabal-tui new"):
        load_project(tmp_path)


def test_saving_keeps_comments_and_only_differences(tmp_path):
    settings = load_project(write(tmp_path, WHOLE))
    changed = settings.model_copy(update={"models": ModelsSettings(user=OFFLINE)})
    save_project(tmp_path, changed)
    text = (tmp_path / "flowcabal.toml").read_text(encoding="utf-8")
    assert "# my book" in text and "the good one" in text
    assert load_project(tmp_path).models.user.provider == "offline"
    assert "first_token_timeout" not in text


def test_user_settings_round_trip():
    user = UserSettings(language="zh", keys={"run.start": "f5"}, models=ModelsSettings(user=OFFLINE))
    change_user(lambda _before: user)
    assert load_user() == user
    change_user(lambda _before: UserSettings())
    assert load_user() == UserSettings()


def test_recent_projects_come_newest_first_and_do_not_repeat(tmp_path):
    for n in range(RECENT_LIMIT + 5):
        remember_project(tmp_path / str(n))
    remember_project(tmp_path / "7")
    found = recent_projects()
    assert len(found) == RECENT_LIMIT and found[0].name == "7"
    (paths.state_folder() / "recent.json").write_text("{", encoding="utf-8")
    assert recent_projects() == ()


def keep_secret(name: str, value: str) -> None:
    paths.secrets_file().parent.mkdir(parents=True)
    paths.secrets_file().write_text(f'{name} = "{value}"\n', encoding="utf-8")
    paths.secrets_file().chmod(0o600)


def test_a_key_comes_from_the_environment_before_the_file():
    keep_secret("mine", "from-file")
    endpoint = Endpoint(model="m", api_key_env="MY_KEY", secret="mine")
    assert find_key(endpoint, {"MY_KEY": "from-env"}) == "from-env"
    assert find_key(endpoint, {}) == "from-file"
    assert find_key(Endpoint(model="m"), {"MY_KEY": "x"}) is None


def test_a_secrets_file_that_others_can_read_is_refused():
    keep_secret("mine", "k")
    paths.secrets_file().chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        read_secrets()


def test_a_project_needs_a_name():
    with pytest.raises(ValueError, match="name"):
        ProjectSettings.model_validate({"project": {}})


def test_asking_where_things_live_makes_no_folder(own_folders):
    assert dict(paths.locations())["secrets"].name == "secrets.toml"
    assert not own_folders.exists()


def test_another_model_leaves_nothing_of_the_one_before(tmp_path):
    hosted = Endpoint(model="big", base_url="http://there", api_key_env="KEY", price_in=Decimal(3), concurrency=2)
    for first, second in ((OFFLINE, hosted), (hosted, OFFLINE), (hosted, Endpoint(model="small"))):
        for chosen in (first, second):
            settings = ProjectSettings.model_validate({"project": {"name": "x"}})
            save_project(tmp_path, settings.model_copy(update={"models": ModelsSettings(user=chosen)}))
        assert load_project(tmp_path).models.user == second


def test_a_role_that_is_taken_away_leaves_the_file(tmp_path):
    settings = ProjectSettings.model_validate({"project": {"name": "x"}})
    save_project(tmp_path, settings.model_copy(update={"models": ModelsSettings(user=OFFLINE, agent=OFFLINE)}))
    save_project(tmp_path, settings.model_copy(update={"models": ModelsSettings(user=OFFLINE)}))
    assert load_project(tmp_path).models == ModelsSettings(user=OFFLINE)


def test_a_default_that_somebody_wrote_down_stays_written(tmp_path):
    (tmp_path / "flowcabal.toml").write_text('[project]\nname = "x"\n[run]\nconcurrency = 8  # mine\n')
    save_project(tmp_path, load_project(tmp_path))
    assert "concurrency = 8  # mine" in (tmp_path / "flowcabal.toml").read_text()


def test_the_first_frame_sees_the_same_settings_as_everything_else():
    assert load_screen() == ScreenSettings()
    change_user(lambda _before: UserSettings(language="zh", keys={"run.start": "f5"}, wizard_done=True))
    assert load_screen() == ScreenSettings(language="zh", keys={"run.start": "f5"}, wizard_done=True)


DEEP = (
    pytest.param("x=" + "[" * 5_000, id="unclosed"),
    pytest.param("x=" + "[" * 60 + "]" * 60, id="lists"),
    pytest.param(".".join("x" * 5_000) + "=1", id="keys"),
)


@pytest.mark.parametrize("text", DEEP)
def test_a_file_that_is_nested_too_deeply_is_one_clear_error_wherever_it_is_read(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=r"flowcabal\.toml is not valid TOML") as caught:
        load_project(tmp_path)
    assert "too deeply" in caught.value.detail
    assert book_state(tmp_path) == "damaged"
    paths.user_file().parent.mkdir(parents=True)
    for path in (paths.user_file(), paths.secrets_file()):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    with pytest.raises(SettingsError, match=r"config\.toml is not valid TOML"):
        load_user()
    with pytest.raises(SettingsError, match="Cannot read"):
        read_secrets()
    assert load_screen() is None
    assert file_modes() == PRIVATE


def test_a_line_of_brackets_in_a_text_of_the_file_does_not_prevent_a_change() -> None:
    text = 'x = """\n' + "[" * 5_000 + '\n"""\n'
    assert edited(text, [(("y",), 1)]).startswith(text)


@pytest.mark.parametrize("text", ["language = 3", "language = ", "[keys]\na = 1", *DEEP])
def test_a_wrong_user_setting_is_named_before_the_first_frame(text):
    paths.user_file().parent.mkdir(parents=True)
    paths.user_file().write_text(text, encoding="utf-8")
    assert load_screen() is None
    with pytest.raises(SettingsError, match=r"config\.toml"):
        load_user()


def test_a_server_on_this_machine_gets_one_request_at_a_time_and_much_patience_unless_set() -> None:
    here = Endpoint(model="m", base_url="http://127.0.0.1:8080/v1")
    assert here.pace == (1, 1_800, 300, 1_800)
    assert here.model_copy(update={"concurrency": 2}).pace == (2, 1_800, 300, 1_800)
    assert Endpoint(model="m").pace == (4, 120, 60, 1_200)
