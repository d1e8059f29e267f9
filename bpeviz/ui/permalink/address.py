"""The address of this server for others, and the QR code of a link."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import segno
import streamlit as st

from bpeviz.network import network_address
from bpeviz.ui import private

MAX_ADDRESS = 500
"""The most characters of the address of a page, without its query."""

MAX_QR_VERSION = 6
"""The largest QR code, of 41 by 41 modules, that phones scan from a projector at some distance.

It holds 106 bytes at error correction level M.
"""

THIS_MACHINE = (
    "This server listens on this machine only, so others cannot open the link. To open it to a "
    "room, start it with `python -m bpeviz room` (see “A room” in bpeviz/DEPLOYMENT.md)."
)
UNKNOWN_NAME = (
    "“localhost” means this machine only. For others, replace it in the link by the name or IP "
    "address of this machine, or start the server with `--browser.serverAddress NAME`."
)


@dataclass(frozen=True)
class Reachable:
    """The address of a page for others.

    Attributes:
        page: The address without a query; empty if the browser's own is not valid.
        note: The reason why others cannot open it; empty where they can.
    """

    page: str
    note: str = ""


def reachable(page: str) -> Reachable:
    """Return the address at which others reach a page.

    On the machine of the server, a browser may show "localhost", where others need its name.

    Args:
        page: The address that the browser shows, without a query.
    """
    try:
        parts = urlsplit(page)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return Reachable("")
    if len(page) > MAX_ADDRESS or parts.scheme not in ("http", "https") or not host:
        return Reachable("")
    page = SplitResult(parts.scheme, parts.netloc, parts.path, "", "").geturl()
    if not is_loopback(host):
        return Reachable(page)
    listens = st.get_option("server.address") or ""
    if is_loopback(listens):
        return Reachable(page, THIS_MACHINE)
    name = private.server_name()
    if name is None:
        name = network_address() if listens in ("", "0.0.0.0", "::") else listens  # noqa: S104
    if not name or is_loopback(name):
        return Reachable(page, UNKNOWN_NAME)
    written = f"[{name}]" if ":" in name else name
    netloc = written if port is None else f"{written}:{port}"
    return Reachable(SplitResult(parts.scheme, netloc, parts.path, "", "").geturl())


def is_embeddable() -> bool:
    """Return whether pages of other origins may show the app in a frame, where it works.

    In a frame of another site, browsers do not send the cookie of the password.
    """
    origins = os.environ.get("BPEVIZ_FRAME_ANCESTORS", "").split()
    return bool({*origins} - {"'self'", "'none'"}) and not os.environ.get("BPEVIZ_PASSWORD")


def is_loopback(host: str) -> bool:
    """Return whether a host name or IP address is that of this machine for itself."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def draw_code(code: str) -> None:
    """Draw a QR code as large as fits."""
    if code:
        st.html(f'<img class="qr" alt="QR code of the address below" src="{code}">')


def qr_code(address: str) -> str:
    """Return the QR code of an address as that of an image, or "" if it would be too fine to scan.

    Black on white in the dark theme, too: some scanners refuse inverted codes.
    """
    try:
        code = segno.make_qr(address, error="m", version=None, boost_error=False)
    except segno.DataOverflowError:
        return ""
    is_coarse = int(code.version) <= MAX_QR_VERSION
    return str(code.svg_data_uri(light="#fff", omitsize=True)) if is_coarse else ""
