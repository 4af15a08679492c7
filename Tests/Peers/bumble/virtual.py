"""Bumble controllers on one virtual air, each served as H4 on a port of 127.0.0.1."""

from bumble import ll
from bumble.controller import Controller
from bumble.hci import Address, LeFeatureMask
from bumble.link import LocalLink
from bumble.transport import open_transport

CONNECTION_TIMEOUT = 0x08


class ResetController(Controller):
    """A controller that is reset when it is told to be: Bumble's own goes on with what it did, and refuses to scan."""

    def on_hci_reset_command(self, command):
        self.le_scan_enable = False
        self.pending_le_connection = None
        for connection in list(self.le_connections.values()):
            # The other end notices that nothing comes any more.
            connection.send_ll_control_pdu(ll.TerminateInd(CONNECTION_TIMEOUT))
            del self.le_connections[connection.peer_address]
        return super().on_hci_reset_command(command)


def controller(name, air, number, transport=None):
    """A controller on the air, behind a transport or for a host in this process."""
    return ResetController(
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
