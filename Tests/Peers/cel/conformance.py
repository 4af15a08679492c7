#!/usr/bin/env python3
"""Holds the expressions of machines to the conformance tests of CEL, of which they are a subset.

usage: conformance.py WORKBENCH FOLDER [--verbose]

WORKBENCH is lockstep-workbench, FOLDER a checkout of github.com/google/cel-spec. Of each file of tests/simple/testdata it prints
how many tests pass, how many expressions are refused, since the subset does not have what they use, and how many tests need
variables, which are left out. The status is 1 if an expression is accepted and has another value than in CEL, beside those of
DEVIATIONS.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

# A number that is no number does not exist here: it is absent, and so is what is compared with it.
DEVIATIONS = {"eq_literal/not_eq_double_nan", "ne_literal/not_ne_double_nan", "ne_literal/ne_double_nan"}

TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\n\s*)*(?:(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<sign>[{}\[\]<>:,;])|(?P<word>[^\s{}\[\]<>:,;"'#]+))"""
)
ESCAPE = re.compile(r"\\(?:([xX][0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescaped(text):
    """The bytes of a text of the protocol buffer text format."""
    result, end = bytearray(), 0
    for match in ESCAPE.finditer(text):
        result += text[end : match.start()].encode()
        end = match.end()
        hexadecimal, short, long, octal, letter = match.groups()
        if hexadecimal:
            result.append(int(hexadecimal[1:], 16))
        elif short or long:
            result += chr(int(short or long, 16)).encode("utf-8", "surrogatepass")
        elif octal:
            result.append(int(octal, 8) & 255)
        else:
            result += LETTERS.get(letter, letter).encode()
    return bytes(result + text[end:].encode())


class Reader:
    """Reads the protocol buffer text format into lists of (name, value); a text is bytes, and any other scalar a str."""

    def __init__(self, text):
        self.tokens = [(m.lastgroup, m[m.lastgroup]) for m in TOKEN.finditer(text) if m.lastgroup]
        self.index = 0

    def take(self, sign=None):
        token = self.tokens[self.index] if self.index < len(self.tokens) else ("end", "")
        if sign is None or token == ("sign", sign):
            self.index += 1
            return token
        return None

    def message(self, close=None):
        fields = []
        while self.index < len(self.tokens):
            if close and self.take(close):
                return fields
            if self.take(",") or self.take(";"):
                continue
            name = self.take()[1]
            if name == "[":
                while not self.take("]"):
                    name += self.take()[1]
            self.take(":")
            fields.append((name, self.value()))
        return fields

    def value(self):
        for open_sign, close in ("{}", "<>"):
            if self.take(open_sign):
                return self.message(close)
        if self.take("["):
            members = []
            while not self.take("]"):
                if not self.take(","):
                    members.append(self.value())
            return members
        kind, text = self.take()
        if kind != "text":
            return text
        result = unescaped(text[1:-1])
        while self.index < len(self.tokens) and self.tokens[self.index][0] == "text":
            result += unescaped(self.take()[1][1:-1])
        return result


def all_of(message, name):
    return [value for key, value in message if key == name]


def first(message, name, default=None):
    return next(iter(all_of(message, name)), default)


def shown(value):
    """A value as the workbench prints it, or None for one that the subset does not have."""
    kind, content = value[0]
    if kind == "bool_value":
        return content
    if kind == "int64_value":
        return str(int(content, 0))
    if kind == "double_value":
        return float(content)
    if kind == "string_value":
        return f"'{content.decode()}'"
    if kind == "bytes_value":
        return content.hex()
    if kind == "list_value":
        members = [shown(member) for member in all_of(content, "values")]
        return None if None in members else f"[{', '.join(map(str, members))}]"
    return None


def has_value(test, answer):
    """Whether an answer is what a test wants."""
    if all_of(test, "eval_error"):
        return answer == "absent"
    wanted = shown(first(test, "value")) if all_of(test, "value") else "true"
    if isinstance(wanted, float):
        return answer not in ("absent", "true", "false") and float(answer) == wanted
    return answer == wanted


def run(workbench, path, verbose):
    """Runs the tests of a file, and returns how many there are of each kind."""
    tests = []
    root = Reader(path.read_text()).message()
    for section in all_of(root, "section"):
        for test in all_of(section, "test"):
            tests.append((f"{first(section, 'name').decode()}/{first(test, 'name').decode()}", test))
    counts = dict.fromkeys(["passed", "refused", "left out", "deviates", "failed"], 0)
    kept = []
    for name, test in tests:
        # What needs variables, names of packages or types alone is no expression with a value here.
        needs_more = any(all_of(test, key) for key in ("bindings", "type_env", "container", "typed_result", "check_only"))
        kept += [] if needs_more else [(name, test)]
        counts["left out"] += needs_more
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(first(test, "expr").decode()) + "\n" for _, test in kept)
        file.flush()
        output = subprocess.run([workbench, "expressions", file.name], capture_output=True, text=True, timeout=120, check=True)
    for (name, test), line in zip(kept, output.stdout.split("\n")[:-1], strict=True):
        answer = json.loads(line)
        if "fault" in answer:
            kind = "refused"
        elif has_value(test, answer["value"]):
            kind = "passed"
        else:
            kind = "deviates" if name in DEVIATIONS else "failed"
        counts[kind] += 1
        if kind == "failed" or verbose and kind == "refused":
            print(f"  {kind} {name}: {first(test, 'expr').decode()!r}: {answer}")
    return counts


def main():
    words = [word for word in sys.argv[1:] if word != "--verbose"]
    if len(words) != 2:
        sys.exit(__doc__)
    files = sorted(pathlib.Path(words[1], "tests/simple/testdata").glob("*.textproto"))
    if not files:
        sys.exit(f"{words[1]} has no tests/simple/testdata")
    total = {}
    for path in files:
        counts = run(words[0], path, "--verbose" in sys.argv)
        print(f"{path.stem:16}", ", ".join(f"{count} {kind}" for kind, count in counts.items() if count))
        total = {kind: total.get(kind, 0) + count for kind, count in counts.items()}
    print("in all          ", ", ".join(f"{count} {kind}" for kind, count in total.items()))
    sys.exit(1 if total["failed"] else 0)


if __name__ == "__main__":
    main()
