"""Test of the serve command: a port in use is reported at once, also one shared by SO_REUSEPORT."""

from __future__ import annotations

import socket

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize("shared", [False, True])
def test_a_used_port_is_reported(shared: bool) -> None:
    with socket.socket() as other:
        if shared:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=rf"Port {port} on 127.0.0.1 is not available .*--port"):
            call_command("serve", port=port)
