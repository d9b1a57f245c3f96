#!/usr/bin/env python3
"""errands.py WORK UID GID - SIGKILL of the opener, the checker and the reader at moments of chance: each
leg they work for ends soon, with a result that says so, and never GREEN for want of a judge.  TAP.
SAPHAN_SEED: which chance."""
import os
import random
import signal
import subprocess
import threading
import time

import rawclient as raw
from stage import WORK as TOP, check, finish

DAEMON = int(os.environ["SAPHAN_DAEMON_PID"])
SEED = int(os.environ.get("SAPHAN_SEED", "20261130"))
WANTED = 6  # kills of each, at least
SECONDS = 20  # what a leg may take
WORK = os.path.join(TOP, "errands")  # of root, who asks here
chance = random.Random(SEED)


class Killer(threading.Thread):
    """Kills each child of saphand that is PROGRAM, a moment after it was born."""

    def __init__(self, program):
        super().__init__(daemon=True)
        self.program, self.killed, self.stopped = program, 0, False

    def run(self):
        unclear, last = set(), last_pid()
        while not self.stopped:
            now = last_pid()
            if now < last:
                last = 0  # the numbers began again
            unclear |= set(range(last + 1, now + 1))
            last = now
            unclear = {pid for pid in unclear if self.try_kill(pid)}

    def try_kill(self, pid):
        """True: it is not clear yet what it will be."""
        try:
            with open("/proc/%d/stat" % pid) as stat:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) != DAEMON:
                    return False
            with open("/proc/%d/cmdline" % pid) as line:
                name = os.path.basename(line.read().split("\0")[0])
            if name == "saphand":
                return True  # before its exec
            if name == self.program:
                handle = os.pidfd_open(pid)
                time.sleep(chance.random() * 0.002)
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                os.close(handle)
                self.killed += 1
        except (OSError, IndexError):
            pass  # it is gone already
        return False


def last_pid():
    """The number of the process that was born last."""
    with open("/proc/loadavg") as load:
        return int(load.read().split()[4])


def with_path():
    """A grant by its path is opened by the opener."""
    client = raw.Client()
    try:
        return client.ask(raw.run(["/bin/true"], [raw.grant(raw.WRITE, path=WORK)]), seconds=SECONDS)
    finally:
        client.close()


def with_artefact():
    """The checker stamps it before the leg and judges it after."""
    client = raw.Client()
    place = os.open(WORK, os.O_PATH)
    try:
        return client.ask(raw.run(["/bin/sh", "-c", "echo done >made"], [raw.grant(raw.WORKSPACE, 1)],
                                  artefacts=["made"]), [place], seconds=SECONDS)
    finally:
        os.close(place)
        client.close()


def with_settings():
    """The vendor's settings are looked into by the reader."""
    said = subprocess.run(
        ["saphan", "run", "--vendor", "codex", "--workspace", WORK + "/ws", "--seat", WORK + "/seat", "--", WORK + "/codex",
         "exec", "--dangerously-bypass-approvals-and-sandbox", "x"], capture_output=True, text=True, timeout=SECONDS + 10)
    last = said.stderr.strip().splitlines()[-1] if said.stderr.strip() else "nothing"
    return {0: "GREEN"}.get(said.returncode, "%d %s" % (said.returncode, last))


def play(program, leg):
    subprocess.run(["rm", "-f", WORK + "/made"], check=True)
    said = leg()
    check("control: %s lives: GREEN" % program, said == "GREEN", said)
    killer = Killer(program)
    killer.start()
    outcomes, slow, wrong = {}, [], []
    for _ in range(60):
        hits, began = killer.killed, time.monotonic()
        said = leg()
        took = time.monotonic() - began
        outcomes[said] = outcomes.get(said, 0) + 1
        if took > SECONDS - 1 or said in ("silent", "ended", "busy"):
            slow.append((said, took))
        # A kill just behind its last answer changes nothing; but nothing else than a result may come.
        if not said.startswith(("GREEN", "RED ", "refused ", "INDETERMINATE ", "125 ", "112 ")):
            wrong.append(said)
        if killer.killed >= WANTED and hits != killer.killed and len(outcomes) > 1:
            break
    killer.stopped = True
    killer.join(10)
    print("# seed %d, %s: killed %d; %s" % (SEED, program, killer.killed, outcomes))
    check("%s was killed" % program, killer.killed >= WANTED, killer.killed)
    check("%s killed: no leg hangs" % program, not slow, slow)
    check("%s killed: each leg has a named result" % program, not wrong and set(outcomes) != {"GREEN"}, (wrong, outcomes))
    said = leg()
    check("and the next leg is GREEN again", said == "GREEN", said)


for name in ("", "/seat", "/ws"):
    os.mkdir(WORK + name)
with open(WORK + "/codex", "w") as codex:
    codex.write("#!/bin/sh\nexit 0\n")
os.chmod(WORK + "/codex", 0o755)
play("saphan-opener", with_path)
play("saphan-checker", with_artefact)
play("saphan-reader", with_settings)
finish()
