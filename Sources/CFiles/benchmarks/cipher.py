import hmac
KEY = b"sixteen byte key"
def stream(counter, direction):
    return hmac.digest(KEY, b"%c%d" % (direction, counter), "sha256")
def seal(counter, direction, body):
    text = bytes(a ^ b for a, b in zip(body, stream(counter, direction)))
    return text + hmac.digest(KEY, b"%c%d" % (direction, counter) + text, "sha256")[:4]
def unseal(counter, direction, message):
    text = message[:-4]
    if hmac.digest(KEY, b"%c%d" % (direction, counter) + text, "sha256")[:4] != message[-4:]:
        raise ValueError("a wrong tag")
    return bytes(a ^ b for a, b in zip(text, stream(counter, direction)))
