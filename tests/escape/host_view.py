#!/usr/bin/env python3
"""host_view.py WORK UID GID - what an ordinary user puts into a home is in no other user's way.  TAP."""
import os
import shutil
import subprocess

import rawclient as raw
from stage import GID, UID, WORK, check, finish, skip

HERE = os.path.dirname(os.path.realpath(__file__))
home = "/home/saphan-escape-%d" % os.getpid()


def look(command):
    client = raw.Client()
    said = client.ask(raw.run(["/bin/sh", "-c", command], view=2))
    client.close()
    return said


os.makedirs("/home", exist_ok=True)
os.mkdir(home)
try:
    os.chown(home, UID, GID)
    os.mkdir(home + "/mount")
    os.chown(home + "/mount", UID, GID)
    with open(home + "/seen", "w"):
        pass
    os.symlink("/usr", home + "/.aws")
    if os.path.exists("/dev/fuse"):
        server = subprocess.Popen([HERE + "/fuse_hang.py", home + "/mount", str(UID), str(GID)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check("control: a file system of the user's own that does not answer is in a home",
              server.stdout.readline() == "mounted\n")
        said = look("exit 0")
        check("a leg with the host's view runs all the same", said == "GREEN", said)
        said = look("test -e %s/seen" % home)
        check("control: it sees the rest of that home", said == "GREEN", said)
        said = look("ls %s/mount" % home)
        check("and not what that file system holds", said in ("GREEN", "RED exit-status"), said)
        server.stdin.close()
        server.wait()
    else:
        skip("a file system of a user's own", "/dev/fuse")
finally:
    subprocess.run(["umount", "-l", home + "/mount"], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(home, ignore_errors=True)
check("and saphand serves on", raw.served())
finish()
