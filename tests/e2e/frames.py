#!/usr/bin/env python3
"""frames.py SOCKET - sends what is no proper frame; each time saphand must answer with a refusal or
the end of the connection within a few seconds, and another connection must be served meanwhile."""
import array
import os
import random
import socket
import struct
import sys

PATH = sys.argv[1]
FRAME_MAX = 128 * 1024
failed = False


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(15)
    client.connect(PATH)
    return client


def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, wire, payload):
    return varint(number << 3 | wire) + payload


def message(number, body):
    return field(number, 2, varint(len(body)) + body)


def frame(body):
    return struct.pack("<I", len(body)) + body


def client_frame(number, body, protocol=1):
    return field(1, 0, varint(protocol)) + field(2, 0, varint(7)) + message(number, body)


def drain(client):
    """All that comes until the end; None when it neither ends nor says anything."""
    got = b""
    try:
        while True:
            piece = client.recv(65536)
            if not piece:
                return got
            got += piece
            if len(got) > 4:
                return got
    except socket.timeout:
        return None
    except ConnectionError:
        return got


def attempt(name, data, close=False, descriptors=0):
    global failed
    client = connect()
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(descriptors)]
    try:
        if opened:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", opened))]
            client.sendmsg([data], rights)
        else:
            client.sendall(data)
        if close:
            client.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    for descriptor in opened:
        os.close(descriptor)
    answer = drain(client)
    client.close()
    served = serve()
    good = answer is not None and served
    failed = failed or not good
    print("%s: %s%s" % (name, "no answer" if answer is None else "%d bytes" % len(answer),
                        "" if served else "; another connection is not served"))


def serve():
    """Another connection asks for the status and gets an answer."""
    client = connect()
    client.sendall(frame(client_frame(15, b"")))
    got = drain(client)
    client.close()
    return bool(got)


def main():
    assert serve(), "the control: a proper frame is answered"
    attempt("nothing but the end", b"", close=True)
    attempt("half a length", b"\x05\x00", close=True)
    attempt("a length without a body", struct.pack("<I", 100), close=True)
    attempt("a truncated body", struct.pack("<I", 100) + b"x" * 50, close=True)
    attempt("length 0", struct.pack("<I", 0))
    attempt("a length above the bound", struct.pack("<I", FRAME_MAX + 1) + b"x" * 100)
    attempt("the largest length there is", struct.pack("<I", 0xffffffff) + b"x" * 100)
    attempt("bytes that are no message", frame(b"\xff" * 1000))
    attempt("an empty message", frame(field(1, 0, varint(1))))
    attempt("another protocol", frame(client_frame(15, b"", protocol=2)))
    attempt("a body of no known type", frame(client_frame(99, b"")))
    attempt("a server's frame", frame(client_frame(14, field(1, 0, varint(5)))[:-1]))
    nested = b""
    for _ in range(10000):
        nested = message(10, nested)
        if len(nested) > 60000:
            break
    attempt("nested ten thousand deep", frame(client_frame(10, nested)))
    attempt("groups nested deep", frame(b"\x0b" * 60000))
    attempt("a run of nothing", frame(client_frame(10, b"")))
    attempt("argv with a NUL inside", frame(client_frame(10, message(1, b"/bin/tr\0ue"))))
    attempt("an empty program name", frame(client_frame(10, message(1, b""))))
    attempt("ten thousand arguments", frame(client_frame(10, message(1, b"x") * 10000)))
    attempt("an enum of no meaning", frame(client_frame(10, message(1, b"/bin/true") + field(3, 0, varint(77)))))
    attempt("a descriptor that was not sent", frame(client_frame(10, message(1, b"/bin/true") + message(
        7, field(1, 0, varint(1)) + field(2, 0, varint(9)) + message(3, b"/usr")))))
    attempt("more descriptors than a frame may have", frame(client_frame(15, b"")), descriptors=200)
    attempt("descriptors nobody asked for", frame(client_frame(15, b"")), descriptors=20)
    attempt("a wrong wire type", frame(field(1, 2, varint(3) + b"abc")))
    rng = random.Random(20261130)
    for number in range(50):
        attempt("noise %d" % number, frame(bytes(rng.randrange(256) for _ in range(rng.randrange(1, 2000)))))
    sys.exit(1 if failed else 0)


main()
