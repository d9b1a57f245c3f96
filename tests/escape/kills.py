#!/usr/bin/env python3
"""kills.py WORK UID GID - SIGKILL of saphand, of a stub and of a front at moments of chance, with legs
under way: what is left, before and after a start on the same private folder.  TAP.
SAPHAN_KILLS: how many times (default 12); SAPHAN_SEED: which chance."""
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

import rawclient as raw
from stage import GID, UID, WORK, check, finish

BUILD = os.environ["SAPHAN_BUILD"]
TIMES = int(os.environ.get("SAPHAN_KILLS", "12"))
SEED = int(os.environ.get("SAPHAN_SEED", "20261130"))
PRIVATE = tempfile.mkdtemp(prefix="saphan-kills.", dir="/run")  # where only root may write
SOCKET = os.path.join(PRIVATE, "saphan.sock")
chance = random.Random(SEED)


def start():
    ready, write = os.pipe()
    command = [BUILD + "/daemon/saphand", "--private", PRIVATE, "--policy", PRIVATE + ".policy",
               "--libexec", BUILD + "/daemon", "--ready-fd", str(write)]
    owner = os.stat(command[0]).st_uid
    if owner:
        command += ["--custodian", str(owner)]
    with open(PRIVATE + ".log", "ab") as log:
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[write])
    os.close(write)
    said = os.read(ready, 16)
    os.close(ready)
    return daemon if said == b"ready\n" else None


def children(pid):
    """{pid: name} of the living children of PID."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry) as stat:
                    name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
                state, parent = rest.split()[:2]
            except (OSError, IndexError):
                continue
            if int(parent) == pid and state != "Z":
                found[int(entry)] = name
    return found

PROOFS = []  # legs that were not killed


def below(pid):
    out = {}
    for child, name in children(pid).items():
        out[child] = name
        out.update(below(child))
    return out


def alive(pids):
    """Those of PIDS that still run what they ran."""
    out = []
    for pid, name in pids.items():
        try:
            with open("/proc/%d/stat" % pid) as stat:
                now, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
            if now == name and rest.split()[0] != "Z":
                out.append((pid, name))
        except (OSError, IndexError):
            pass
    return out


def until(condition, seconds):
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.02)


def cgroups(pid):
    found = []
    for top in ("/sys/fs/cgroup",):
        for folder, names, _ in os.walk(top):
            found += [os.path.join(folder, one) for one in names if one == "saphan-%d" % pid]
    return found


def mounts():
    with open("/proc/self/mountinfo") as lines:
        return sorted(line.split(" ", 1)[1].split(" ")[3] for line in lines)


def tree(place):
    return sorted(os.path.relpath(os.path.join(folder, name), place)
                  for folder, folders, files in os.walk(place) for name in folders + files)


def legs():
    said = subprocess.run(["saphan", "legs", "--all", "--json"], capture_output=True, text=True,
                          env=dict(os.environ, SAPHAN_SOCKET=SOCKET), timeout=60)
    return [json.loads(line) for line in said.stdout.splitlines()]


def ask_some(places):
    clients = []
    for place in places:
        client = raw.Client(SOCKET)
        client.send(raw.frame(raw.run(
            ["/bin/sh", "-c", "trap '' TERM HUP; (setsid sleep 50 &) ; sleep 50"],
            [raw.grant(raw.WORKSPACE, 1)], artefacts=["x"], detach=chance.random() < 0.5,
            carve_outs=["deep/er"]), 10), [os.open(place, os.O_PATH)])
        clients.append(client)
    return clients


def victim(daemon, what):
    names = {"stub": "saphan-stub", "front": "saphan-front", "checker": "saphan-checker",
             "zygote": ("saphan-stub", "saphan-front")}
    if what == "daemon":
        return daemon.pid
    found = []
    for pid in children(daemon.pid):
        try:
            with open("/proc/%d/cmdline" % pid) as line, open("/proc/%d/status" % pid) as status:
                is_root = "\nUid:\t0\t" in status.read()  # of what they bear nobody is root for long
                if line.read().startswith(names[what]) and (what == "checker" or is_root == (what == "zygote")):
                    found.append(pid)
        except OSError:
            pass
    return chance.choice(found) if found else None


def main():
    os.chmod(PRIVATE, 0o711)
    with open(PRIVATE + ".policy", "w") as policy:
        policy.write("[allow t]\nUser=root\nBoundary=domain\nView=minimal\nNet=none\nVendor=*\nRead=/\nWrite=/\n")
    os.chmod(PRIVATE + ".policy", 0o644)
    places = []
    for number in range(3):
        places.append(os.path.join(WORK, "tree%d" % number))
        os.mkdir(places[-1])
    before_mounts = mounts()
    daemon = start()
    check("control: saphand is there", daemon)
    problems, hits = [], {}
    for turn in range(TIMES):
        what = ("daemon", "stub", "front", "zygote", "daemon", "checker", "zygote", "daemon")[turn % 8]
        clients = ask_some(places)
        time.sleep(chance.random() * chance.choice([0.01, 0.05, 0.3]))
        pid = victim(daemon, what)
        if pid is None:
            what, pid = "daemon", daemon.pid
        hits[what] = hits.get(what, 0) + 1
        family = below(daemon.pid)
        family = {one: name for one, name in family.items() if one != pid}
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # a checker is quick
        if what == "daemon":
            daemon.wait()
            left = until(lambda: alive(family), 2)
            if left:
                problems.append("turn %d: processes outlive saphand: %s" % (turn, left))
            old = daemon.pid
            daemon = start()
            if not daemon:
                problems.append("turn %d: no start after a kill" % turn)
                break
            if cgroups(old):
                problems.append("turn %d: cgroups stay: %s" % (turn, cgroups(old)))
        elif what == "zygote":
            if until(lambda: not (raw_served() and runs()), 5):  # another one is there in a second
                problems.append("turn %d: not served, or no leg, after a zygote was killed" % turn)
        elif until(lambda: not raw_served(), 5):  # the first try may have met the dying one
            problems.append("turn %d: not served after a %s was killed" % (turn, what))
        for client in clients:
            client.close()
        for one in legs():
            if one.get("state") != "ended":
                subprocess.run(["saphan", "leg", "kill", str(one["leg"])], timeout=60, capture_output=True,
                               env=dict(os.environ, SAPHAN_SOCKET=SOCKET))
        running = until(lambda: [one for one in legs() if one.get("state") != "ended"], 20)
        if running:
            problems.append("turn %d (%s): legs run on: %s" % (turn, what, running))
        left = until(lambda: [tree(place) for place in places if tree(place)], 3)
        if left:
            problems.append("turn %d (%s): left in the trees: %s" % (turn, what, left))
            break
        if mounts() != before_mounts:
            problems.append("turn %d (%s): mounts of the host changed" % (turn, what))
            break
    print("# seed %d, killed: %s" % (SEED, hits))
    check("nothing is left after %d kills at moments of chance" % TIMES, not problems, "\n".join(problems))
    colours = {}
    for one in legs():
        colours[one.get("colour")] = colours.get(one.get("colour"), 0) + 1
    check("no killed leg is GREEN", colours and colours.get("GREEN", 0) == len(PROOFS), (colours, PROOFS))
    if daemon:
        family = below(daemon.pid)
        daemon.terminate()
        try:
            check("and it stops in order", daemon.wait(15) == 0, daemon.returncode)
        except subprocess.TimeoutExpired:
            daemon.kill()
            check("and it stops in order", False, "it does not stop")
        left = until(lambda: alive(family), 2)
        check("with all that was its", not left and not cgroups(daemon.pid), (left, cgroups(daemon.pid)))


def runs():
    """A leg of its own, which nobody kills."""
    said = subprocess.run(["saphan", "run", "--", "/bin/true"], capture_output=True, timeout=60,
                          env=dict(os.environ, SAPHAN_SOCKET=SOCKET))
    if said.returncode == 0:
        PROOFS.append(said.stderr)
    return said.returncode == 0


def raw_served():
    client = raw.Client(SOCKET)
    try:
        return client.ask(b"", which=15, seconds=20) == "end"
    except OSError:  # this connection's front died before it was born
        return False
    finally:
        client.close()


try:
    main()
finally:
    shutil.rmtree(PRIVATE, ignore_errors=True)
    for end in (".policy", ".log"):
        if os.path.exists(PRIVATE + end):
            os.unlink(PRIVATE + end)
finish()
