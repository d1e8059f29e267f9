"""The address of this machine in its network, and addresses that others can open."""

from __future__ import annotations

import ipaddress
import socket

_LOCAL = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""The ends of names that are known in one network only."""


def is_public(host: str) -> bool:
    """Return whether a host name or IP address is one that machines of other networks reach."""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host.strip(".") and not host.rstrip(".").lower().endswith(_LOCAL)


def network_address() -> str:
    """Return the address of this machine in its network, or an empty text.

    Connecting a datagram socket sends nothing: it only selects the network interface. The address
    is one that RFC 5737 reserves for documentation.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        try:
            connection.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(connection.getsockname()[0])
