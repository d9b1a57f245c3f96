#!/usr/bin/env python3
"""vanish.py WORK UID GID - clients that go away at every step of a request; TAP."""
import json
import os
import signal
import subprocess
import time

import rawclient as raw
from stage import GID, UID, WORK, check, finish


def legs():
    said = subprocess.run(["saphan", "legs", "--all", "--json"], capture_output=True, text=True, timeout=30)
    return [json.loads(line) for line in said.stdout.splitlines()]


def leg(number):
    for _ in range(400):
        found = [one for one in legs() if one.get("leg") == number]
        if found and found[0].get("state") == "ended":
            return found[0]
        time.sleep(0.1)
    return found[0] if found else None


def while_judged():
    """The leg has ended and the checker hashes what it left: whoever goes then changes no verdict."""
    place = os.path.join(WORK, "judged")
    os.mkdir(place)
    folder = os.open(place, os.O_PATH)
    client = raw.Client()
    client.send(raw.frame(raw.run(
        ["/bin/sh", "-c", "truncate -s 400M big; exit 3"], [raw.grant(raw.WORKSPACE, 1)],
        artefacts=[("big", bytes(32))]), 10), [folder])
    _, accepted, _ = client.until("accepted")
    while True:
        kind, body, _ = client.until("event")
        if kind != "event" or raw.event_kind(body) == "exited":
            break
    check("control: the program has ended", kind == "event", kind)
    time.sleep(0.1)
    client.close()
    found = leg(raw.first(accepted, 1))
    check("a leg whose client goes while it is judged keeps its verdict",
          found and found.get("colour") == "RED" and "exit-status" in str(found), found)
    check("and saphand serves on", raw.served())


def at_every_step():
    """A hundred clients that go after ever longer: none leaves a leg, and others are served."""
    place = os.path.join(WORK, "steps")
    os.mkdir(place)
    folder = os.open(place, os.O_PATH)
    before = sorted(os.listdir(place))
    for step in range(100):
        client = raw.Client()
        request = raw.frame(raw.run(["/bin/sleep", "60"], [raw.grant(raw.WORKSPACE, 1)],
                                    artefacts=["x"]), 10)
        cut = len(request) if step % 4 else step * 3 % len(request)
        client.send(request[:cut], [folder])
        time.sleep(step * 0.0007)
        client.close()
    check("saphand serves on after a hundred that went", raw.served(20))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        running = [one for one in legs() if one.get("state") != "ended"]
        if not running:
            break
        time.sleep(0.1)
    check("none of their legs runs on", not running, running)
    deadline = time.monotonic() + 5
    while sorted(os.listdir(place)) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    check("and nothing of ours is left in their workspace", sorted(os.listdir(place)) == before,
          os.listdir(place))


while_judged()
at_every_step()
finish()
