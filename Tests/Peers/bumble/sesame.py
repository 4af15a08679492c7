"""The protocol of a Sesame: frames, keys, session ciphers, advertisements; of a Sesame 5 (OS3) both ends.

It shares nothing with Lockstep's own implementation but the documents that both were written from.
"""

import base64
import struct
import uuid
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import cmac
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

SERVICE = "FD81"  # as sixteen bits, which is how a lock declares it
WRITE = "16860002-A5AE-9856-B6D3-DBB4C676993E"
NOTIFY = "16860003-A5AE-9856-B6D3-DBB4C676993E"
COMPANY = 0x055A
MODELS = {"sesame3": 0, "sesame4": 4, "sesame5": 5, "sesame5pro": 7}

CREATE, READ, UPDATE, DELETE, SYNC, ASYNC, RESPONSE, PUBLISH = range(1, 9)
REGISTRATION, LOGIN, HISTORY, VERSION, TIME, AUTOLOCK, INITIAL = 1, 2, 4, 5, 8, 11, 14
IDENTITY, TIME_UNSIGNED, HISTORY_DELETE, SETTING, STATUS, LOCK, UNLOCK, RESET = 15, 16, 18, 80, 81, 82, 83, 104
SUCCESS, INVALID_FORMAT, NOT_SUPPORTED, INVALID_SIGNATURE, NOT_FOUND = 0, 1, 2, 4, 5
INVALID_PARAMETER, INVALID_ACTION = 8, 9
NO_ANGLE = -32768
FACTORY_POSITIONS = (0, 120)  # degrees
# What records of the history tell of.
LOCKED_BY_CLIENT, UNLOCKED_BY_CLIENT, TIME_SET, AUTOLOCK_SET, POSITIONS_SET, AUTOLOCKED = 1, 2, 3, 4, 5, 6


def mac(key, message):
    """AES-128-CMAC."""
    code = cmac.CMAC(algorithms.AES(key))
    code.update(message)
    return code.finalize()


def public_octets(private):
    """X and Y of the public key, 32 octets each."""
    numbers = private.public_key().public_numbers()
    return numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")


def device_secret(private, peer):
    """What both ends know after a registration: the first half of the agreed X coordinate."""
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + peer)
    return private.exchange(ec.ECDH(), key)[:16]


def frames(message, encrypted, size=19):
    """The message cut into frames of so many octets at most, with a header octet before each."""
    parts = [message[i : i + size] for i in range(0, len(message), size)] or [b""]
    result = []
    for index, part in enumerate(parts):
        last = (4 if encrypted else 2) if index == len(parts) - 1 else 0
        result.append(bytes([last | (index == 0)]) + part)
    return result


class Reassembler:
    """Joins frames again; what goes on with no message, or is of no kind that there is, is passed over."""

    LONGEST = 256

    def __init__(self):
        self.gathered = None

    def push(self, frame):
        """(message, whether it is encrypted) when the frame was the last of a message, else None."""
        kind = frame[0] >> 1 if frame else 0
        if not frame or kind > 2:
            return None
        if frame[0] & 1:
            self.gathered = b""
        if self.gathered is None:
            return None
        message = self.gathered + frame[1:]
        self.gathered = message if kind == 0 and len(message) <= self.LONGEST else None
        return (message, kind == 2) if kind and len(message) <= self.LONGEST else None


class Cipher:
    """An open session. Both directions use the same key and nonces, and count for themselves."""

    TAG = 4  # octets

    def __init__(self, secret, token):
        self.key = mac(secret, token)
        self.token = token
        self.sent = 0
        self.received = 0

    @property
    def proof(self):
        return self.key[:4]

    def _nonce(self, counter, is_received):
        return struct.pack("<QB", counter, 0) + self.token

    def encrypt(self, message):
        sealed = AESCCM(self.key, tag_length=self.TAG).encrypt(
            self._nonce(self.sent, False), bytes(message), b"\0"
        )
        self.sent += 1
        return sealed

    def decrypt(self, sealed):
        """The message; raises InvalidTag, and the counter stays, when it does not authenticate."""
        message = self._open(sealed, self.received)
        self.received += 1
        return message

    def reopened(self, sealed, counters):
        """The message, if one of these counters opens it, else None; for locks that should not."""
        for counter in counters:
            try:
                return self._open(sealed, counter)
            except (InvalidTag, ValueError):
                continue
        return None

    def _open(self, sealed, counter):
        return AESCCM(self.key, tag_length=self.TAG).decrypt(
            self._nonce(counter, True), bytes(sealed), b"\0"
        )


class OS2Cipher(Cipher):
    """An open session of a Sesame 3 or 4, at the lock's end: a bit of the counter tells the directions apart."""

    def __init__(self, key, token):
        self.key, self.token = key, token
        self.sent = self.received = 0

    def _nonce(self, counter, is_received):
        counter &= (1 << 39) - 1
        return (counter | is_received << 39).to_bytes(5, "little") + self.token


VENDOR = bytes.fromhex(
    "a040fcc7386b2a08304a3a2f0834df575c936794209729f0d42bd84218b35803"
    "932bea522200b2ebcbf17ab57c4509b4a3f1e268b2489eb3b75f7a765adbe181"
)


def os2_private(er):
    """The key pair of a Sesame 3 or 4, which follows from the secret part of its identity."""
    first = mac(b"Sesame2_key_pair", er)
    return ec.derive_private_key(int.from_bytes(first + mac(first, er), "big"), ec.SECP256R1())


def os2_proof(secret, index, public, app_token, lock_token):
    return mac(secret, index + public + app_token + lock_token)[:4]


def os2_signature(private, public, server_token, lock_token):
    """What shows a lock that its registration went through the vendor."""
    return mac(device_secret(private, VENDOR), public + server_token + lock_token)[:4]


def address(identity):
    """The static random address of an OS3 device, in the octet order of the air."""
    octets = bytearray(mac(identity.bytes, b"candy")[:6])
    octets[5] |= 0xC0
    return bytes(octets)


def advertisement(model, registered, identity, history=False):
    """The advertising data: thirty octets; of a Sesame 3 or 4 fourteen, which has its identity in its name."""
    manufacturer = struct.pack("<HHB", COMPANY, model, registered | history << 1)
    manufacturer += b"" if model in (0, 4) else identity.bytes
    return b"\x02\x01\x06" + bytes([len(manufacturer) + 1, 0xFF]) + manufacturer + b"\x03\x03\x81\xfd"


def short_name(identity):
    """What a lock answers scans with."""
    return base64.b64encode(identity.bytes)[:22]


@dataclass
class Key:
    """A lock and the secret that its owner shares with it, None when it has no owner; of a Sesame 3 or 4 also the
    secret part of its identity, which its owner has no need of."""

    model: str
    identity: uuid.UUID
    secret: bytes | None
    er: bytes | None = None

    @classmethod
    def read(cls, path):
        """Reads the lines `name: value` of a lock file, as `lockstep emulate --key-file` writes it."""
        fields = {}
        with open(path) as file:
            for line in file:
                name, colon, value = line.partition(":")
                if colon and not line.lstrip().startswith("#"):
                    fields[name.strip()] = value.strip().strip("\"'")
        secret, er = (bytes.fromhex(fields[name]) if name in fields else None for name in ("secret", "er"))
        return cls(fields["lock"], uuid.UUID(fields["uuid"]), secret, er)
