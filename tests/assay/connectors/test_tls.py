"""Tests of TLS: the certificate must match the engine's name although the address was resolved before."""

from __future__ import annotations

import datetime
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from assay.connectors import Allowed, Engine, EngineFault
from assay.network.http_clients import tls_context
from tests.assay.connectors.bad_engine import BadEngine

Opened = Callable[..., Engine]


def certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate for a name, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], int]]:
    """``serve("localhost")``: the port of an engine whose certificate is for that name, and trusted."""
    servers: list[BadEngine] = []

    def start(name: str) -> int:
        path = certificate(tmp_path, name)
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        tls_context.cache_clear()
        server = BadEngine()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return server.port

    yield start
    tls_context.cache_clear()
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_name_is_in_the_certificate(serve: Callable[[str], int], opened: Opened, here: Allowed) -> None:
    engine = opened("json-http", {"address": f"https://localhost:{serve('localhost')}/good"}, here)
    assert len(engine.search("rain", 3)) == 3


def test_another_name_is_in_the_certificate(serve: Callable[[str], int], opened: Opened, here: Allowed) -> None:
    engine = opened("json-http", {"address": f"https://localhost:{serve('search.example.com')}/good"}, here)
    with pytest.raises(EngineFault, match="certificate") as caught:
        engine.search("rain", 3)
    assert caught.value.name == "unreachable"


def test_an_untrusted_certificate(
    serve: Callable[[str], int], opened: Opened, here: Allowed, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = serve("localhost")
    monkeypatch.delenv("SSL_CERT_FILE")
    tls_context.cache_clear()
    engine = opened("json-http", {"address": f"https://localhost:{port}/good"}, here)
    with pytest.raises(EngineFault, match="certificate"):
        engine.search("rain", 3)
