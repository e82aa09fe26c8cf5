"""Tests of the address check: connectors reach only hosts, networks and folders the operator allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault


def refused(allowed: Allowed, host: str, port: int = 80) -> str:
    with pytest.raises(EngineFault) as caught:
        allowed.addresses(host, port)
    return caught.value.name


def test_empty_allowlist_refuses_every_host() -> None:
    assert refused(Allowed(), "example.com") == "not-allowed"
    assert refused(Allowed(), "93.184.215.14") == "not-allowed"


# RFC 6890 and the notations in which a private address is commonly hidden.
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "192.0.0.1", "198.18.0.1", "240.0.0.1",
        "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "2001:0:7f00:1::80ff:fffe", "2130706433", "0x7f000001", "127.1", "0177.0.0.1",
    ],
)  # fmt: skip
def test_no_host_on_the_list_leads_into_a_private_network(host: str) -> None:
    assert refused(Allowed.of(["*"]), host) in ("not-allowed", "unreachable")


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "127.1"])
def test_these_are_refused_and_not_only_unknown(host: str) -> None:
    assert refused(Allowed.of(["*"]), host) == "not-allowed"


def test_public_addresses_of_listed_hosts_are_good() -> None:
    assert Allowed.of(["8.8.8.8"]).addresses("8.8.8.8", 443) == ["8.8.8.8"]


def test_a_private_network_can_be_allowed() -> None:
    allowed = Allowed.of(["127.0.0.1:9200", "10.1.2.3"], ["127.0.0.1/32"])
    assert allowed.addresses("127.0.0.1", 9200) == ["127.0.0.1"]
    assert refused(allowed, "127.0.0.1", 22) == "not-allowed"
    assert refused(allowed, "10.1.2.3") == "not-allowed"


def test_the_message_says_what_the_operator_can_do() -> None:
    with pytest.raises(EngineFault, match=r"add search\.example\.com:9200 to CONNECTOR_HOSTS"):
        Allowed().addresses("search.example.com", 9200)
    with pytest.raises(EngineFault, match=r"127\.0\.0\.1, which is not public.*CONNECTOR_NETWORKS"):
        Allowed.of(["127.0.0.1"]).addresses("127.0.0.1", 80)


def test_patterns() -> None:
    allowed = Allowed.of(["*.example.com", "Search.Example.Org:443", "[::1]:9200", "fe80::1"])
    assert allowed.names("a.b.example.com", 1)
    assert allowed.names("A.EXAMPLE.COM.", 1)
    assert not allowed.names("example.com", 1)
    assert not allowed.names("evilexample.com", 1)
    assert not allowed.names("example.com.evil.net", 1)
    assert allowed.names("search.example.org", 443)
    assert not allowed.names("search.example.org", 80)
    assert allowed.names("::1", 9200)
    assert not allowed.names("::1", 80)
    assert allowed.names("fe80::1", 80)


def test_a_name_without_an_address() -> None:
    assert refused(Allowed.of(["*"]), "no-such-host.invalid") == "unreachable"
    assert refused(Allowed.of(["*"]), "a" * 300) == "unreachable"


def test_files_only_from_allowed_folders(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (inside / "good.db").write_text("x")
    (outside / "bad.db").write_text("x")
    (inside / "link.db").symlink_to(outside / "bad.db")
    allowed = Allowed.of([], [], [inside])
    assert allowed.file(str(inside / "good.db")) == inside / "good.db"
    for name in (outside / "bad.db", inside / ".." / "out" / "bad.db", inside / "link.db", outside / "none.db"):
        with pytest.raises(EngineFault) as caught:
            allowed.file(str(name))
        assert caught.value.name == "not-allowed"
    with pytest.raises(EngineFault, match="has no file"):
        allowed.file(str(inside / "none.db"))
    with pytest.raises(EngineFault):
        Allowed().file(str(inside / "good.db"))
    # What no file can be called is no file.
    for name in ("a" * 5_000, "a/" * 3_000, "a\udfff", "good.db/x"):
        with pytest.raises(EngineFault) as caught:
            allowed.file(f"{inside}/{name}")
        assert caught.value.name in ("unreachable", "not-allowed"), name[:20]
    with pytest.raises(EngineFault):
        allowed.file(f"{inside}/good.db\0")
