#!/usr/bin/env python3
"""Runs labgrid's client program many times: its modules, which take most of its time to load, are loaded once.

usage: clients.py PORT

Listens on PORT of the loopback interface. A connection sends a line, a JSON list: the user, then the words of the command line.
It gets what labgrid-client prints, and then a line with its exit status.
"""

import json
import os
import socket
import sys

from labgrid.remote import client


def run(connection):
    """Is labgrid-client for one connection, in a process of its own."""
    os.dup2(connection.fileno(), 1)
    os.dup2(connection.fileno(), 2)
    user, *words = json.loads(connection.makefile().readline())
    os.environ.update(LG_USERNAME=user, LG_HOSTNAME="office")
    sys.argv = ["labgrid-client", *words]
    status = 0
    try:
        client.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        print(f"\n{status}", flush=True)
        os._exit(0)


def main():
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
        print("listening", flush=True)
        while True:
            connection, _ = server.accept()
            # Those that have ended are waited for.
            while True:
                try:
                    if os.waitpid(-1, os.WNOHANG) == (0, 0):
                        break
                except ChildProcessError:
                    break
            if os.fork() == 0:
                server.close()
                run(connection)
            connection.close()


if __name__ == "__main__":
    main()
