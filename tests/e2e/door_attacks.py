#!/usr/bin/env python3
"""door_attacks.py WHAT - run in a leg: what a hostile program tries at its door."""
import os
import resource
import select
import socket
import struct
import sys
import time

DOOR = ("127.0.0.1", 3128)
HOST = "api.example.test"


def ask(raw, wait=5.0, address=DOOR):
    with socket.create_connection(address, 5) as sock:
        sock.settimeout(wait)
        try:
            sock.sendall(raw)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        out = b""
        try:
            while len(out) < 65536:
                part = sock.recv(4096)
                if not part:
                    break
                out += part
        except OSError:
            pass
        return out


def status(raw):
    answer = ask(raw)
    return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/1.") else "none"


def parse():
    good = "api.example.test:80"
    odd = {
        "a NUL in the name": b"CONNECT evil\0.example.test:80 HTTP/1.1\r\n\r\n",
        "a NUL before the suffix": b"GET http://evil.org\0.example.test/ HTTP/1.1\r\n\r\n",
        "a trailing dot": b"CONNECT api.example.test.:80 HTTP/1.1\r\n\r\n",
        "a suffix behind": b"CONNECT api.example.test.evil:80 HTTP/1.1\r\n\r\n",
        "userinfo": b"GET http://api.example.test@other.test/ HTTP/1.1\r\n\r\n",
        "userinfo before": b"GET http://other.test:x@api.example.test/ HTTP/1.1\r\n\r\n",
        "a backslash": b"GET http://other.test\\.example.test/ HTTP/1.1\r\n\r\n",
        "IDN as bytes": "CONNECT äpi.example.test:80 HTTP/1.1\r\n\r\n".encode(),
        "percent": b"GET http://other.test%2f.example.test/ HTTP/1.1\r\n\r\n",
        "loopback in IPv6": b"CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\r\n\r\n",
        "loopback behind NAT64": b"CONNECT [64:ff9b::7f00:1]:80 HTTP/1.1\r\n\r\n",
        "loopback in fewer parts": b"CONNECT 127.1:80 HTTP/1.1\r\n\r\n",
        "punycode of another": b"CONNECT xn--pi-uia.evil:80 HTTP/1.1\r\n\r\n",
        "wide letters": "CONNECT \uff41pi.example.test:80 HTTP/1.1\r\n\r\n".encode(),
        "port 25": b"CONNECT api.example.test:25 HTTP/1.1\r\n\r\n",
        "port 0": b"CONNECT api.example.test:0 HTTP/1.1\r\n\r\n",
        "port 65616": b"CONNECT api.example.test:65616 HTTP/1.1\r\n\r\n",
        "no port": b"CONNECT api.example.test HTTP/1.1\r\n\r\n",
        "another Host": b"GET http://api.example.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "two Hosts": b"GET http://api.example.test/ HTTP/1.1\r\nHost: api.example.test\r\nHost: other.test\r\n\r\n",
        "origin-form": b"GET / HTTP/1.1\r\nHost: api.example.test\r\n\r\n",
        "a bare LF": b"GET http://api.example.test/ HTTP/1.1\n\n",
        "an injected line": b"GET http://api.example.test/ HTTP/1.1\r\nA: b\nX: y\r\n\r\n",
        "a space before the colon": b"GET http://api.example.test/ HTTP/1.1\r\nHost : other.test\r\n\r\n",
        "two lengths": b"POST http://api.example.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "length and chunks": b"POST http://api.example.test/ HTTP/1.1\r\nContent-Length: 1\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "an unknown coding": b"POST http://api.example.test/ HTTP/1.1\r\nTransfer-Encoding: x, chunked\r\n\r\n",
        "TRACE": b"TRACE http://api.example.test/ HTTP/1.1\r\n\r\n",
        "a flood of fields": b"GET http://api.example.test/ HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        "an endless field": b"GET http://api.example.test/ HTTP/1.1\r\nA: " + b"b" * 100000 + b"\r\n\r\n",
        "https in plain": b"GET https://api.example.test/ HTTP/1.1\r\n\r\n",
        "ftp": b"GET ftp://api.example.test/ HTTP/1.1\r\n\r\n",
        "garbage": os.urandom(500).replace(b"\r", b"x") + b"\r\n\r\n",
    }
    for name, raw in odd.items():
        got = status(raw)
        print("ok" if got in ("400", "403") else "not ok", name, got)
    for name, raw in {
            "BIND": b"\5\1\0\5\2\0\3\x10" + HOST.encode() + b"\0\x50",
            "UDP ASSOCIATE": b"\5\1\0\5\3\0\3\x10" + HOST.encode() + b"\0\x50",
            "a NUL in SOCKS": b"\5\1\0\5\1\0\3\x10evil\0example.test\0\x50"[:24] + b"\0\x50",
            "SOCKS with a password only": b"\5\1\2",
            "loopback by SOCKS": b"\5\1\0\5\1\0\1\x7f\0\0\1\x1f\x40",
            "loopback by SOCKS, as IPv6": b"\5\1\0\5\1\0\4" + b"\0" * 10 + b"\xff\xff\x7f\0\0\1\x1f\x40",
            "loopback by SOCKS, as a name": b"\5\1\0\5\1\0\3\x09127.0.0.1\x1f\x40",
            "SOCKS4": b"\4\1\0\x50\x7f\0\0\1\0"}.items():
        answer = ask(raw, address=("127.0.0.1", 1080))
        good = len(answer) < 4 or answer[3] != 0
        print("ok" if good else "not ok", name, answer)
    upper = ask(b"GET http://API.Example.TEST/ HTTP/1.1\r\n\r\n")
    print("ok" if b"hello from api.example.test" in upper else "not ok", "upper case is the same name", upper[:60])
    del good


def smuggle():
    second = b"GET http://api.example.test/second HTTP/1.1\r\nHost: other.test\r\n\r\n"
    answer = ask(b"POST http://api.example.test/first HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + second * 3)
    print(answer.count(b"HTTP/1.1 200"))


def crowd():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    most = min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 50)
    made = turned = 0
    waiting = []
    for _ in range(10000):
        if len(waiting) >= most:
            waiting.pop(0).close()
        sock = socket.socket()
        sock.setblocking(False)
        try:
            sock.connect(DOOR)
        except BlockingIOError:
            pass
        except OSError:
            turned += 1
            sock.close()
            continue
        waiting.append(sock)
        made += 1
    time.sleep(0.5)
    for sock in waiting:
        sock.close()
    deadline = time.time() + 20
    while time.time() < deadline:
        if ask(b"GET http://api.example.test/ HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200"):
            print("ok")
            return
        time.sleep(0.2)
    print("not ok", made, turned)


def tunnel():
    sock = socket.create_connection(DOOR, 5)
    sock.settimeout(10)
    sock.sendall(b"CONNECT api.example.test:80 HTTP/1.1\r\n\r\n")
    assert sock.recv(100).startswith(b"HTTP/1.1 200")
    return sock


def peers():
    half = tunnel()
    half.sendall(b"GET / HTTP/1.1\r\nHost: api.example.test\r\nConnection: close\r\n\r\n")
    half.shutdown(socket.SHUT_WR)
    out = b""
    while True:
        part = half.recv(4096)
        if not part:
            break
        out += part
    assert b"hello" in out, out
    for _ in range(50):
        reset = tunnel()
        reset.sendall(b"GET /big HTTP/1.1\r\nHost: api.example.test\r\n\r\n")
        reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        reset.close()
    deaf = []
    for _ in range(100):
        sock = tunnel()
        sock.sendall(b"GET /big HTTP/1.1\r\nHost: api.example.test\r\n\r\n" * 5)
        deaf.append(sock)
    slow = []
    for _ in range(100):
        sock = socket.create_connection(DOOR, 5)
        sock.sendall(b"G")
        slow.append(sock)
    deadline = time.time() + 20  # the server has to fill what the deaf do not read
    took = 99
    while took > 1:
        assert time.time() < deadline, "others wait"
        start = time.time()
        ask(b"GET http://api.example.test/ HTTP/1.1\r\n\r\n", wait=20)
        took = time.time() - start
    for i in range(3):
        for sock in slow:
            sock.sendall(b"ET "[i:i + 1])
        time.sleep(0.1)
    print("ok")


def late():
    """More peers that do not read than the door has pipes: nothing of what they were owed is lost or mixed up."""
    owed = []
    for number in range(48):
        sock = tunnel()
        sock.settimeout(60)  # the server makes all that is owed first
        sock.sendall(b"GET /late%d HTTP/1.1\r\nHost: api.example.test\r\nConnection: close\r\n\r\n" % number)
        owed.append(sock)
    answer = ask(b"GET http://api.example.test/ HTTP/1.1\r\n\r\n", wait=60)
    assert b"hello" in answer, answer
    for number, sock in enumerate(owed):
        out = bytearray()
        while True:
            part = sock.recv(1 << 16)
            if not part:
                break
            out += part
        body = bytes(out[out.index(b"\r\n\r\n") + 4:])
        want = b"".join(b"%d:%d\n" % (number, line) for line in range(400000))
        assert body == want, (number, len(body), len(want))
    print("ok")


def around():
    def attempt(name, call):
        try:
            call()
            print("not ok", name)
        except OSError as error:
            print("ok", name, error.strerror)

    def connect(family, address):
        def call():
            with socket.socket(family, socket.SOCK_STREAM) as sock:
                sock.settimeout(3)
                sock.connect(address)
        return call

    def datagram(address):
        def call():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.sendto(b"x", address)
        return call
    attempt("TCP past the door", connect(socket.AF_INET, ("11.22.33.44", 80)))
    attempt("TCP to the host's loopback", connect(socket.AF_INET, ("127.0.0.1", 8000)))
    attempt("IPv6", connect(socket.AF_INET6, ("2606:4700::1111", 443)))
    attempt("UDP 53", datagram(("11.22.33.44", 53)))
    attempt("name look-up", lambda: socket.getaddrinfo("api.example.test", 80))
    print("ok" if not select.select([], [], [], 0)[0] else "not ok", "nothing waits")


def inject():
    forward = ("127.0.0.1", 8080)
    odd = {
        "CR LF in the path": b"GET /a\r\nX-Injected: 1\r\n HTTP/1.1\r\n\r\n",
        "LF in a value": b"GET / HTTP/1.1\r\nA: b\nX-Injected: 1\r\n\r\n",
        "a folded value": b"GET / HTTP/1.1\r\nA: b\r\n X-Injected: 1\r\n\r\n",
        "absolute-form": b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "CONNECT": b"CONNECT other.test:443 HTTP/1.1\r\n\r\n",
        "an authority as a path": b"GET //other.test/ HTTP/1.1 HTTP/1.1\r\n\r\n",
        "a NUL": b"GET /\0 HTTP/1.1\r\n\r\n",
    }
    for name, raw in odd.items():
        answer = ask(raw, address=forward)
        print("ok" if answer.startswith(b"HTTP/1.1 400") else "not ok", name, answer[:40])
    second = b"GET /injected HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = ask(b"POST /p HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + second, address=forward)
    print("ok" if answer.count(b"HTTP/1.1 200") == 1 else "not ok", "a second request", answer[:40])
    answer = ask(b"POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + second,
                 address=forward)
    print("ok" if answer.count(b"HTTP/1.1 200") == 1 else "not ok", "behind chunks", answer[:40])


{"inject": inject, "parse": parse, "smuggle": smuggle, "crowd": crowd, "peers": peers, "late": late, "around": around}[sys.argv[1]]()
