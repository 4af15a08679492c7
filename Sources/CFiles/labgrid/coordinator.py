# Talks to labgrid's coordinator through labgrid's own library: the other end is LabgridClient.
#
# It takes a line for each request, a list of JSON: the name of the operation and its argument. It answers each with a line: a
# mapping with what the lab is like afterwards, as LabState reads it, and with the operation's `result`; or one with a
# `refusal`, as LabgridFault.Reason names it, and `words` about it. It ends with its input.
import sys

sys.path[:] = filter(None, sys.path)  # Nothing is imported from the working folder.

import asyncio  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402

ENDPOINT, OWNER, LIMIT = *sys.argv[1:3], 12  # Seconds: a coordinator waits ten for an exporter.
ANSWERS = os.dup(1)
os.dup2(2, 1)  # What labgrid prints is for people.
lack, version = "import", ""
try:
    import labgrid
    lack, version = "version", getattr(labgrid, "__version__", "of an unknown version") + ": "
    import grpc
    from labgrid.remote.client import ClientSession, ServerError
    from labgrid.remote.common import ReservationState
    from labgrid.remote.generated import labgrid_coordinator_pb2 as messages
    lack = None
except Exception as error:
    complaint = f"{version}{type(error).__name__}: {error}"

class Refusal(Exception):
    """Why not: a word for programs, and words for people."""

def free_place(session, name):
    if name not in session.places:
        raise Refusal("place", f"there is no place {name}")
    if holder := session.places[name].acquired:
        raise Refusal("held", f"the place {name} is held by {holder}")
    return session.places[name]

async def reservations(session):
    return (await session.stub.GetReservations(messages.GetReservationsRequest())).reservations

async def our_tokens(session):
    return [each.token for each in await reservations(session) if each.owner == OWNER]

async def look(session): pass
async def reserve(session, tags):
    wanted = {"main": messages.Reservation.Filter(filter=tags)}
    await session.stub.CreateReservation(messages.CreateReservationRequest(filters=wanted))

async def refresh(session):
    for token in await our_tokens(session):
        await session.stub.PollReservation(messages.PollReservationRequest(token=token))

async def acquire(session, name):
    if match := free_place(session, name).unmatched([path for path, _ in offers(session)]):
        raise Refusal("resource", f"no exporter offers {match}, which belongs to the place {name}")
    try:
        await session.stub.AcquirePlace(messages.AcquirePlaceRequest(placename=name))
    except grpc.aio.AioRpcError:
        await session.sync_with_coordinator()
        free_place(session, name)
        raise

async def release(session):
    for name in (names := [each.name for each in session.places.values() if each.acquired == OWNER]):
        await session.stub.ReleasePlace(messages.ReleasePlaceRequest(placename=name, fromuser=OWNER))
    for token in (tokens := await our_tokens(session)):
        with contextlib.suppress(grpc.aio.AioRpcError):  # It may have expired meanwhile.
            await session.stub.CancelReservation(messages.CancelReservationRequest(token=token))
    return len(names) + len(tokens)

def offers(session):
    return [((exporter, group, entry.cls, name), entry) for exporter, groups in session.resources.items()
            for group, entries in groups.items() for name, entry in entries.items()]

def shown(session, place):
    held = [(path, session.resources.get(path[0], {}).get(path[1], {}).get(path[3]))
            for path in place.acquired_resources]
    if not place.acquired:
        held = [(path, entry) for path, entry in offers(session) if place.hasmatch(path)]
    return {"name": place.name, "tags": dict(sorted(place.tags.items())), "holder": place.acquired,
            "orphans": ["/".join(path) for path, entry in held if not entry],
            "resources": [{"class": entry.cls, "parameters": entry.args} for _, entry in held if entry]}

async def perform(operation, *arguments):
    session = ClientSession(ENDPOINT, asyncio.get_running_loop())
    try:
        await session.start()
        result = await globals()[operation](session, *arguments)
        found = [{"owner": each.owner, "state": ReservationState(each.state).name,
                  "place": each.allocations.get("main")} for each in await reservations(session)]
        await session.sync_with_coordinator()
        return {"result": result, "reservations": found,
                "places": [shown(session, place) for _, place in sorted(session.places.items())]}
    finally:
        await session.stop()
        await session.close()

async def answer(request):
    try:
        if lack:
            raise Refusal(lack, complaint)
        return await asyncio.wait_for(perform(*request), LIMIT)
    except Refusal as refusal:
        why, words = refusal.args
    except (ServerError, asyncio.TimeoutError):
        why, words = "unreachable", "the coordinator does not answer"
    except grpc.aio.AioRpcError as error:
        reasons = {"UNAVAILABLE": "unreachable", "PERMISSION_DENIED": "held", "UNIMPLEMENTED": "version"}
        why, words = reasons.get(error.code().name, "refused"), error.details()
    except Exception as error:
        why, words = "version", f"{version}{type(error).__name__}: {error}"
    return {"refusal": why, "words": " ".join(str(words).split())}

loop = asyncio.new_event_loop()
for line in sys.stdin.buffer:
    os.write(ANSWERS, json.dumps(loop.run_until_complete(answer(json.loads(line)))).encode() + b"\n")
