#!/usr/bin/env python3
"""floods.py WORK UID GID - legs and clients that flood: with refused calls, with denied files, with
output nobody reads, with processes, with files; each has only itself to blame.  TAP."""
import os
import time

import rawclient as raw
from stage import GID, UID, WORK, check, finish

FLOODS = {
    "calls that build sandboxes": (
        "import ctypes, time\nlibc = ctypes.CDLL(None)\nend = time.monotonic() + 3\nn = 0\n"
        "while time.monotonic() < end:\n    libc.unshare(0x10000000 | (n & 0xff)); libc.prctl(22, 2, n); n += 1\n"),
    "denied files": (
        "import os, time\nend = time.monotonic() + 3\n"
        "while time.monotonic() < end:\n    for d in ('/', '/etc', '/usr'):\n        try: os.open(d + '/no%d' % (time.monotonic_ns() % 999), os.O_CREAT | os.O_WRONLY)\n        except OSError: pass\n"),
    "processes": (
        "import os, time\nend = time.monotonic() + 3\nn = 0\n"
        "while time.monotonic() < end:\n    try:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\n    except OSError: time.sleep(0.01)\nos._exit(0 if n < 300 else 9)\n"),
    "its scratch memory": (
        "import os, errno\nf = open('/tmp/full', 'wb')\ntry:\n    for _ in range(5000): f.write(bytes(1 << 20))\n"
        "    os._exit(9)\nexcept OSError as e: os._exit(0 if e.errno == errno.ENOSPC else 8)\n"),
    "names": (
        "import os, errno\ntry:\n    for n in range(3000000): os.mknod('/run/%d' % n)\n    os._exit(9)\n"
        "except OSError as e: os._exit(0 if e.errno == errno.ENOSPC else 8)\n"),
}


def slowest(seconds):
    """Of a stranger's requests, while something goes on: how long the slowest took, and all good?"""
    end, worst, good = time.monotonic() + seconds, 0, True
    while time.monotonic() < end:
        began = time.monotonic()
        client = raw.Client()
        good = client.ask(raw.run(["/bin/true"]), seconds=30) == "GREEN" and good
        client.close()
        worst = max(worst, time.monotonic() - began)
        time.sleep(0.1)
    return worst, good


def flooding_legs():
    for name, program in FLOODS.items():
        client = raw.Client()
        client.send(raw.frame(raw.run(["/usr/bin/python3", "-c", program], limits=raw.number(1, 200)), 10))
        worst, good = slowest(2)
        kind, body, before = client.until("verdict", "refused", seconds=60)
        said = raw.outcome(kind, body)
        client.close()
        check("a leg floods %s: another's take at most 10 s" % name, good and worst < 10, (worst, good))
        check("and it ends by itself, with a bounded number of events",
              said.split()[0] in ("GREEN", "RED") and "exit-status" not in said and len(before) < 2000,
              (said, len(before)))


def deaf_client():
    """It asks for output as events and reads nothing."""
    client = raw.Client()
    client.send(raw.frame(raw.run(["/bin/cat", "/dev/zero"], streams=(raw.NULL, raw.EVENTS, raw.NULL)), 10))
    worst, good = slowest(3)
    check("a client that reads no output: others are served", good and worst < 10, (worst, good))
    for number in range(2000):  # and one that asks, and reads no answer
        try:
            client.socket.settimeout(0.05)
            client.send(raw.frame(b"", 15, request=100 + number))
        except OSError:
            break
    worst, good = slowest(1)
    check("nor is one that asks on and on and reads no answer in the way", good and worst < 10, (worst, good))
    client.close()


def as_user(function):
    """What FUNCTION says in a child that is the user."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setresgid(GID, GID, GID)
        os.setresuid(UID, UID, UID)
        try:
            os.write(theirs, str(function()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as said:
        text = said.read()
    os.waitpid(pid, 0)
    return text


def other_users_leg():
    client = raw.Client()
    client.send(raw.frame(raw.run(["/bin/sleep", "30"]), 10))
    _, accepted, _ = client.until("accepted")
    number = raw.first(accepted, 1)
    for which, what in ((12, "show"), (13, "logs"), (14, "kill")):
        said = as_user(lambda: raw.Client().ask(raw.number(1, number), which=which))
        check("another user's leg: %s: leg-unknown" % what, said == "refused leg-unknown", said)
    kind, _, _ = client.until("verdict", seconds=0.5)
    check("control: the leg lives on", kind == "silent", kind)
    client.close()


flooding_legs()
deaf_client()
other_users_leg()
check("and saphand serves on", raw.served())
finish()
