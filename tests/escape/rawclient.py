"""rawclient.py - just enough of PROTOCOL.md to say what no honest client would, and read the answer."""
import array
import os
import socket
import struct
import time

READ, WRITE, WORKSPACE, SEAT, GIT_DIR, GIT_COMMON = range(1, 7)
NULL, DESCRIPTOR, EVENTS, KEEP = range(4)
BODIES = {10: "accepted", 11: "refused", 12: "event", 13: "output", 14: "verdict", 15: "leg",
          16: "status", 17: "rung", 18: "rule", 19: "end"}
IMAGE = os.environ.get("SAPHAN_ESCAPE_IMAGE", "")  # every leg is in a container of it
COLOURS = {0: "UNSET", 1: "GREEN", 2: "RED", 3: "REFUSED", 4: "INDETERMINATE"}


def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def frame(body, which, request=7, protocol=1):
    inner = number(1, protocol) + number(2, request) + text(which, body)
    return struct.pack("<I", len(inner)) + inner


def grant(kind, descriptor=0, path=""):
    return number(1, kind) + number(2, descriptor) + (text(3, path) if path else b"")


def run(argv, grants=(), artefacts=(), streams=(NULL, NULL, NULL), env=(), limits=b"", detach=False,
        carve_outs=(), git=False, view=0, net=0, chdir=""):
    """GRANTS: of grant(); ARTEFACTS: paths or (path, sha256); a stream: a mode, or (DESCRIPTOR, n)."""
    body = b"".join(text(1, one) for one in argv) + b"".join(text(2, one) for one in env)
    body += number(4, view) + number(5, net)
    if IMAGE:  # a container, with the host's programs
        body += number(3, 2) + text(20, IMAGE) + text(7, grant(READ, 0, "/usr"))
    body += b"".join(text(7, one) for one in grants)
    body += b"".join(text(8, one) for one in carve_outs)
    for one in artefacts:
        path, digest = (one, b"") if isinstance(one, str) else one
        body += text(9, text(1, path) + (text(3, digest) if digest else b""))
    body += text(10, limits) if limits else b""
    for field, stream in zip((11, 12, 13), streams):
        mode, which = stream if isinstance(stream, tuple) else (stream, 0)
        body += text(field, number(1, mode) + number(2, which))
    body += text(14, chdir) if chdir else b""
    return body + number(15, int(git)) + number(16, int(detach))


def fields(data):
    """[(field, value)]: an int for a varint, bytes for the rest."""
    at, out = 0, []
    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            if not byte & 0x80:
                return value
            shift += 7
    while at < len(data):
        key = take()
        if key & 7 == 0:
            out.append((key >> 3, take()))
        else:
            size = take()
            out.append((key >> 3, data[at:at + size]))
            at += size
    return out


def first(data, field, default=0):
    return next((value for found, value in fields(data) if found == field), default)


class Client:
    def __init__(self, path=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path or os.environ["SAPHAN_SOCKET"])

    def send(self, data, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self.socket.sendmsg([data], rights if descriptors else [])

    def exactly(self, size):
        got = b""
        while len(got) < size:
            piece = self.socket.recv(size - len(got))
            if not piece:
                raise EOFError
            got += piece
        return got

    def next(self, seconds=20):
        """(kind, body); ("ended", b"") at the end, ("busy", b""), ("silent", b"") after SECONDS."""
        self.socket.settimeout(seconds)
        try:
            size = struct.unpack("<I", self.exactly(4))[0]
            if size == 0:
                return "busy", b""
            for field, value in fields(self.exactly(size)):
                if field >= 10:
                    return BODIES.get(field, "?"), value
            return "?", b""
        except socket.timeout:
            return "silent", b""
        except (EOFError, ConnectionError):
            return "ended", b""

    def until(self, *kinds, seconds=20):
        """The first answer of one of KINDS (or the end), and all that came before."""
        before, deadline = [], time.monotonic() + seconds
        while True:
            kind, body = self.next(max(0.1, deadline - time.monotonic()))
            if kind in kinds or kind in ("ended", "busy", "silent"):
                return kind, body, before
            before.append((kind, body))

    def ask(self, body, descriptors=(), which=10, seconds=20):
        """Sends, waits for the end of the request: "GREEN", "RED slug,...", "refused slug,...", ..."""
        self.send(frame(body, which), descriptors)
        kind, answer, _ = self.until("refused", "verdict", "end", seconds=seconds)
        return outcome(kind, answer)

    def close(self):
        self.socket.close()


def outcome(kind, body):
    if kind == "verdict":
        return " ".join([COLOURS[first(body, 2)]] + slugs(body, 7))
    if kind == "refused":
        return " ".join(["refused"] + slugs(body, 1))
    return kind


def slugs(body, field):
    found = [first(value, 1, b"").decode() for key, value in fields(body) if key == field]
    return [",".join(found)] if found else []


def event_kind(body):
    return first(body, 3, b"").decode()


def served(seconds=5):
    """Another connection asks for the status and gets its answer in time."""
    client = Client()
    kind = client.ask(b"", which=15, seconds=seconds)
    client.close()
    return kind == "end"
