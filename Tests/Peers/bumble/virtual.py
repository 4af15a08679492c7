"""Bumble controllers on one virtual air, each served as H4 on a port of 127.0.0.1."""

from bumble.controller import Controller
from bumble.hci import Address, LeFeatureMask
from bumble.link import LocalLink
from bumble.transport import open_transport


def controller(name, air, number, transport=None):
    """A controller on the air, behind a transport or for a host in this process."""
    return Controller(
        name,
        host_source=transport and transport.source,
        host_sink=transport and transport.sink,
        link=air,
        public_address=Address(f"C0:00:00:00:00:{number:02X}/P"),
    )


async def serve(port, legacy=False):
    """The air, and the transport of the controller that is served on it."""
    air = LocalLink()
    server = await open_transport(f"tcp-server:127.0.0.1:{port}")
    served = controller("served", air, 1, server)
    if legacy:
        served.le_features = LeFeatureMask(served.le_features & ~LeFeatureMask.LE_EXTENDED_ADVERTISING)
    return air, server
