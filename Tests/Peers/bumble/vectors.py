#!/usr/bin/env python3
"""Holds sesame.py to the published test vectors.

usage: vectors.py VECTORS.json
"""

import json
import sys
import uuid

sys.dont_write_bytecode = True
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

import sesame


def private(text):
    return ec.derive_private_key(int(text, 16), ec.SECP256R1())


def check(vector):
    """The names of what does not come out as expected, or None when the vector is not about what is here."""
    given, expected = vector["inputs"], vector["expected"]
    octets = {k: bytes.fromhex(v) for k, v in given.items() if isinstance(v, str) and is_hex(v)}
    kind = vector["id"]
    if kind.startswith("seg.") and "message" in given:
        result = {"frames": [f.hex() for f in sesame.frames(octets["message"], given["kind"] == "ciphertext")]}
    elif kind == "os3.register.keys":
        app, device = private(given["app_private"]), private(given["device_private"])
        secret = sesame.device_secret(device, sesame.public_octets(app))
        assert secret == sesame.device_secret(app, sesame.public_octets(device))
        token = octets.get("token", octets.get("lock_token"))
        result = {"device_secret": secret.hex(), "session_key": sesame.Cipher(secret, token).key.hex()}
    elif kind == "os3.login.command":
        cipher = sesame.Cipher(octets["device_secret"], octets["token"])
        result = {
            "session_key": cipher.key.hex(),
            "frames": [f.hex() for f in sesame.frames(b"\x02" + cipher.proof, False)],
        }
    elif kind == "os2.offline.device_key_from_er":
        result = {"device_public_xy": sesame.public_octets(sesame.os2_private(octets["er"])).hex()}
    elif kind == "os2.offline.sig1":
        device = sesame.os2_private(bytes.fromhex("101112131415161718191a1b1c1d1e1f"))
        signature = sesame.os2_signature(
            device, octets["app_public_xy"], octets["server_token"], octets["lock_token"]
        )
        result = {"sig1": signature.hex()}
    elif kind == "os2.login.auth":
        names = ("secret_key", "key_index", "app_public_xy", "app_token", "lock_token")
        result = {"auth": sesame.os2_proof(*(octets[name] for name in names)).hex()}
    elif kind in ("os2.login.session_key", "os2.register.keys"):
        shared = sesame.device_secret(private(given["app_private"]), octets["device_public_xy"])
        token = octets.get("session_token") or octets["server_token"] + octets["lock_token"]
        key = sesame.mac(shared, token)
        result = {"ecdh16": shared.hex()}
        if kind == "os2.login.session_key":
            result["session_key"] = key.hex()
        else:
            result |= {"reg_key": key.hex(), "owner_key": sesame.mac(key, b"owner_key").hex()}
            result["session_key"] = sesame.mac(key, token).hex()
    elif kind.startswith("os2.session.rx"):
        cipher = sesame.OS2Cipher(octets["session_key"], octets["session_token"])
        cipher.sent = given["counter"]
        sealed = cipher.encrypt(octets["plaintext"])
        result = {"ciphertext": sealed.hex(), "frames": [f.hex() for f in sesame.frames(sealed, True)]}
    elif kind.startswith("os2.session.tx"):
        cipher = sesame.OS2Cipher(octets["session_key"], octets["session_token"])
        cipher.received = given["counter"]
        result = {"plaintext": cipher.decrypt(bytes.fromhex(expected["ciphertext"])).hex()}
        expected = given
    elif kind.startswith(("adv.os2.sesame3", "adv.os2.sesame4")):
        identity = uuid.UUID(expected["device_uuid"])
        data = sesame.advertisement(expected["model"], expected["registered"], identity)
        name = sesame.short_name(identity)
        result = {
            "example_adv_payload": data.hex(),
            "example_scan_response": (bytes([len(name) + 1, 9]) + name).hex(),
        }
    elif kind.startswith(("os3.session.rx", "os3.session.tx", "os3.ccm")):
        cipher = session(octets, given["counter"])
        sealed = cipher.encrypt(octets["plaintext"])
        assert cipher.decrypt(sealed) == octets["plaintext"]
        result = {"ciphertext": sealed.hex(), "frames": [f.hex() for f in sesame.frames(sealed, True)]}
    elif vector["group"] == "os3-negative" and "ciphertext" in given:
        token = octets["nonce"][9:]
        cipher = session(octets | {"token": token}, int.from_bytes(octets["nonce"][:8], "little"))
        try:
            cipher.decrypt(octets["ciphertext"])
            result = {"authenticates": True}
        except (InvalidTag, ValueError):
            result = {"authenticates": False}
    elif kind in ("adv.os3.sesame5_registered", "adv.os3.sesame5_unregistered"):
        data = sesame.advertisement(
            expected["model"], expected["registered"], uuid.UUID(expected["device_uuid"])
        )
        result = {"adv_payload": data.hex()}
    elif kind.startswith("addr.os3"):
        result = {"address_little_endian_on_air": sesame.address(uuid.UUID(given["uuid"])).hex()}
    else:
        return None
    return [name for name, value in result.items() if name in expected and expected[name] != value]


def session(octets, counter):
    """A cipher with a session key that is known, at a counter."""
    cipher = sesame.Cipher(bytes(16), octets["token"])
    cipher.key = octets["session_key"]
    cipher.sent = cipher.received = counter
    return cipher


def is_hex(text):
    try:
        bytes.fromhex(text)
    except ValueError:
        return False
    return True


def main(path):
    with open(path) as file:
        vectors = json.load(file)["vectors"]
    checked = failures = 0
    for vector in vectors:
        wrong = check(vector)
        if wrong is None:
            continue
        checked += 1
        if wrong:
            failures += 1
            print("FAIL", vector["id"], *wrong)
    print(checked, "vectors,", failures, "failures")
    return 1 if failures or checked < 90 else 0


if len(sys.argv) != 2:
    sys.exit(__doc__)
sys.exit(main(sys.argv[1]))
