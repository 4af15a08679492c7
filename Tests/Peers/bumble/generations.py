"""What differs between the two generations of locks: layouts of status, setting, history and tags."""

import struct

from cryptography.hazmat.primitives.asymmetric import ec

import sesame


class OS3:
    """Sesame 5: angles in degrees, battery in millivolts of a cell."""

    REACH = 30  # degrees to either side of a position
    VERSION = b"3.0-5-bumble"
    LONGEST_TAG = 29

    @staticmethod
    def private(er):
        return ec.generate_private_key(ec.SECP256R1())

    @staticmethod
    def status(target, angle, in_lock, in_unlock):
        flags = (0x10 if target is None else 0) | in_lock << 1 | in_unlock << 2
        return struct.pack("<HhhB", 3000, sesame.NO_ANGLE if target is None else round(target), round(angle), flags)

    @staticmethod
    def setting(positions, autolock):
        return struct.pack("<hhh", *(positions or (sesame.NO_ANGLE, sesame.NO_ANGLE)), autolock)

    @staticmethod
    def positions(data):
        """The positions that a setting asks for, in degrees."""
        return struct.unpack("<hh", data)

    @staticmethod
    def record(number, kind, seconds, status, tag):
        return struct.pack("<IBI", number, kind, int(seconds)) + status + (tag or b"")

    @classmethod
    def is_tag(cls, octets):
        """Whether these can be the tag of a command: nothing, a text behind its length, or a type and a UUID."""
        if not octets or (octets[0] == 0 and len(octets) >= 18):
            return True
        way, length = divmod(octets[0], 30)
        return way < 3 and cls.LONGEST_TAG >= length < len(octets) and not any(octets[1 + length :])


class OS2(OS3):
    """Sesame 3 and 4: 1024 angles to a turn, battery as its converter gives it."""

    REACH = 150 * 360 / 1024
    VERSION = struct.pack("<i32s", 1_600_000_000, b"0a1b2c3d4e5f")
    LONGEST_TAG = 21

    @staticmethod
    def private(er):
        return sesame.os2_private(er)

    @staticmethod
    def status(target, angle, in_lock, in_unlock):
        goal = sesame.NO_ANGLE if target is None else turn(target)
        return struct.pack("<HhhBB", 853, goal, turn(angle), in_lock or in_unlock, in_lock << 1 | in_unlock << 2)

    @staticmethod
    def setting(positions, autolock):
        if not positions:
            return struct.pack("<6h", sesame.NO_ANGLE, sesame.NO_ANGLE, 0, 0, 0, 0)
        lock, unlock = map(turn, positions)
        return struct.pack("<6h", lock, unlock, lock - 150, lock + 150, unlock - 150, unlock + 150)

    @staticmethod
    def positions(data):
        lock, unlock, *_ = struct.unpack("<6h", data)
        return (lock, unlock) if sesame.NO_ANGLE in (lock, unlock) else (lock * 360 / 1024, unlock * 360 / 1024)

    @staticmethod
    def record(number, kind, seconds, status, tag):
        content = b"" if tag is None else bytes(18) + (tag[: 1 + tag[0] % 30] if tag else b"\0")
        return struct.pack("<iBQ", number, kind, int(seconds * 1000)) + content

    @classmethod
    def is_tag(cls, octets):
        return not octets or octets[0] != 0 and super().is_tag(octets) or not any(octets)


def turn(degrees):
    return round(degrees * 1024 / 360)


GENERATIONS = {"sesame3": OS2, "sesame4": OS2, "sesame5": OS3, "sesame5pro": OS3}
