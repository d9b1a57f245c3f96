#!/usr/bin/env python3
"""hang.py WORK UID GID - what a client does to hold saphand up; TAP."""
import os
import signal
import subprocess
import time

import rawclient as raw
from stage import GID, UID, WORK, check, finish, skip

HERE = os.path.dirname(os.path.realpath(__file__))


class Hanging:
    """A FUSE file system of the user's own whose server answers nothing."""

    def __init__(self, place):
        os.mkdir(place)
        os.chown(place, UID, GID)
        self.process = subprocess.Popen([os.path.join(HERE, "fuse_hang.py"), place, str(UID), str(GID)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.works = self.process.stdout.readline() == "mounted\n"

    def asked(self):
        return self.process.stdout.readline() == "asked\n"

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def as_user(function):
    """In a child that is the user: whatever it holds open goes with it.  Its pid."""
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setresgid(GID, GID, GID)
        os.setresuid(UID, UID, UID)
        try:
            function()
        finally:
            os._exit(0)
    return pid


def hanging_path():
    """The opener looks at a path whose file system never answers, and cannot be killed."""
    if not os.path.exists("/dev/fuse"):
        skip("a file system that does not answer", "/dev/fuse")
        return
    place = os.path.join(WORK, "hang")
    hanging = Hanging(place)
    check("control: a file system that does not answer is there", hanging.works)

    def ask():
        client = raw.Client()
        client.send(raw.frame(raw.run(["/bin/true"], [raw.grant(raw.READ, 0, place + "/x")]), 10))
        client.next(60)

    pid = as_user(ask)
    check("control: its server was asked", hanging.asked())
    check("meanwhile others are served", raw.served())
    for kind, where in ((raw.READ, place), (raw.WRITE, WORK)):
        client = raw.Client()
        said = client.ask(raw.run(["/bin/true"], [raw.grant(kind, 1)]), [os.open(where, os.O_PATH)])
        client.close()
        check("a grant of it, or of what it lies in, is refused: %d" % kind,
              said in ("refused grant-filesystem", "refused grant-absent"), said)
    os.kill(pid, signal.SIGKILL)  # the client vanishes: its opener is killed, and does not die
    os.waitpid(pid, 0)
    time.sleep(0.2)
    check("others are served when the client has vanished", raw.served())
    pids = [as_user(ask) for _ in range(3)]
    time.sleep(6.5)  # longer than the opener's deadline
    check("others are served when the opener's time is up", raw.served())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    hanging.close()
    check("and when the file system is gone", raw.served())


hanging_path()
finish()
