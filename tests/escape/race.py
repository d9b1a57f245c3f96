#!/usr/bin/env python3
"""race.py WORK UID GID - a leg that tries without end to bring a carve-out's name into being, while
other legs come and go, are refused, killed and left in the same workspace.  TAP."""
import os
import sys
import time

import rawclient as raw
from stage import GID, UID, WORK, check, finish

NAMES = (".git", ".codex", ".agents", ".claude")
TRY = r"""
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
os.chdir(sys.argv[1])
names = sys.argv[2].encode().split()
end = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    os.makedirs("x", exist_ok=True)
    for name in names:
        for got in (libc.mkdir(name, 0o755), libc.mkdir(name + b"/evil", 0o755), libc.renameat2(-100, b"x", -100, name, 0),
                    libc.renameat2(-100, b"x", -100, name, 2), libc.symlink(b"x", name), libc.rmdir(name)):
            if got == 0:
                print("WON", name, flush=True)
                sys.exit(9)
"""


def main():
    place = os.path.join(WORK, "race")
    os.mkdir(place)
    with open(os.path.join(place, "try.py"), "w") as program:
        program.write(TRY)
    folder = os.open(place, os.O_PATH)
    grants = [raw.grant(raw.WORKSPACE, 1)]
    long = raw.Client()
    long.send(raw.frame(raw.run(["/usr/bin/python3", place + "/try.py", place, " ".join(NAMES), "12"], grants), 10), [folder])
    kind, _, before = long.until("event")
    deadline = time.monotonic() + 10
    turns = 0
    while time.monotonic() < deadline:
        client = raw.Client()
        way = turns % 4
        if way == 0:  # one that ends
            client.ask(raw.run(["/bin/true"], grants), [folder])
        elif way == 1:  # one whose client goes
            client.send(raw.frame(raw.run(["/bin/sleep", "9"], grants), 10), [folder])
            time.sleep(0.005 * (turns % 7))
        elif way == 2:  # one that cannot be built
            client.ask(raw.run(["/bin/nothing-of-that-name"], grants), [folder])
        else:  # one that asks for more of the same
            client.ask(raw.run(["/bin/true"], grants, carve_outs=[".codex/deeper", ".git/x/y"]), [folder])
        client.close()
        turns += 1
    kind, verdict, _ = long.until("verdict", seconds=40)
    said = raw.outcome(kind, verdict)
    check("in %d turns of others no carve-out's name came into being" % turns, said == "GREEN", said)
    left = None
    for _ in range(100):
        left = sorted(os.listdir(place))
        if left == ["try.py", "x"]:
            break
        time.sleep(0.05)
    check("and nothing of ours is left", left == ["try.py", "x"], left)
    check("and saphand serves on", raw.served())


main()
finish()
