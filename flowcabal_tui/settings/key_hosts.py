"""The hosts to which each of the user's keys may be sent: stored in the user's own file, never in a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from flowcabal_tui.domain.addresses import host_of, is_encrypted, is_loopback
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings.secrets import keep_secret, read_secrets
from flowcabal_tui.settings.user_file import UserSettings, change_user, load_user

KeyHost = tuple[str, str]
"""A key, by the name of its environment variable or secret entry, and a host as `host_of` writes it."""


@dataclass(frozen=True, slots=True)
class KeyHosts:
    """The bindings of the user's file; the models that it names also bind their keys."""

    hosts: Mapping[str, Set[str]]
    plain: Set[str]

    def allows(self, name: str, host: str) -> bool:
        """True when the key of this name may be sent to this host."""
        return bool(host) and host in self.hosts.get(name, frozenset())


def is_safe_transport(url: str) -> bool:
    """True when the connection is encrypted, local to this machine, or accepted by the user's file. Raises
    SettingsError."""
    return is_encrypted(url) or is_loopback(url) or host_of(url) in key_hosts().plain


def key_hosts() -> KeyHosts:
    """The current bindings in the user's file. Raises SettingsError."""
    return _key_hosts(load_user())


def _key_hosts(user: UserSettings) -> KeyHosts:
    hosts: dict[str, set[str]] = {name: set(bound) for name, bound in user.key_hosts.items()}
    plain = {host.lower() for host in user.plain_http}
    for chosen in user.models.tables.values():
        if not (address := chosen.address):
            continue
        for name in filter(None, (chosen.api_key_env, chosen.secret)):
            hosts.setdefault(name, set()).add(host_of(address))
        if not is_encrypted(address):
            plain.add(host_of(address))
    return KeyHosts({name: frozenset(bound) for name, bound in hosts.items()}, frozenset(plain))


def keep_model_key(endpoint: Endpoint, key: str) -> Endpoint:
    """Stores the key of an endpoint as its `secret`, and returns the endpoint with the entry's name.

    An entry whose key belongs to another host is not changed; the new entry is then named after this host. Raises
    OSError or SettingsError.
    """
    host, name = host_of(endpoint.address), endpoint.secret
    if name in read_secrets() and not key_hosts().allows(name, host):
        name = host
    keep_secret(name, key)
    return endpoint.model_copy(update={"api_key_env": "", "secret": name})


def bind_keys(pairs: Iterable[KeyHost]) -> None:
    """Adds these bindings to the user's file; others stay. Raises OSError or SettingsError."""
    wanted = {pair for pair in pairs if all(pair)}

    def bind(user: UserSettings) -> UserSettings:
        known = _key_hosts(user).hosts
        bound = {name: list(hosts) for name, hosts in user.key_hosts.items()}
        for name, host in sorted(pair for pair in wanted if pair[1] not in known.get(pair[0], frozenset())):
            bound.setdefault(name, []).append(host)
        return replace(user, key_hosts={name: tuple(hosts) for name, hosts in bound.items()})

    if wanted:
        change_user(bind)
