#!/usr/bin/env python3
"""matrix.py [ROUNDS] - the machine row and the matrix, as root; starts its own saphand beside it:

    sudo tests/bench/matrix.py

Medians of `saphan machine probe-confinement`, of the four arms of a cell that are saphan's own, and of
`saphan matrix show` on a ledger of 100,000 cells, of which as many are the newest of their kind as
stands beside it.  A plain leg is the measure of the day: compare with it.  Prints figures and asserts
nothing.
"""
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
CELLS = 100000
POLICY = """[allow bench]
User=root
Boundary=domain
View=minimal
Net=none
Vendor=*
Read=/
Write=/
Measure=yes
"""


def beside_a_daemon():
    with tempfile.NamedTemporaryFile("w", suffix=".policy", delete=False) as policy:
        policy.write(POLICY)
    os.chmod(policy.name, 0o644)
    try:
        return subprocess.call([os.path.join(TOP, "tests", "with-saphand"), "--as", "root",
                                "--policy", policy.name, os.path.realpath(__file__)] + sys.argv[1:])
    finally:
        os.unlink(policy.name)


def once(command, good=(0,), **more):
    """(milliseconds, standard output)"""
    begin = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, **more)
    took = (time.perf_counter() - begin) * 1000
    if done.returncode not in good:
        sys.exit("%s: status %d" % (" ".join(command), done.returncode))
    return took, done.stdout


def tell(name, values):
    print("%-58s median %7.1f ms, worst %7.1f of %d" % (name, statistics.median(values), max(values), len(values)))


def own_arms(folder):
    """Milliseconds of the arms 0 to 3 of one cell, from the first's beginning to the last's end."""
    workspace = os.path.join(folder, "workspace")
    os.makedirs(workspace)
    _, out = once(["saphan", "matrix", "measure", "--json", "--vendor", "proc", "--workspace", workspace,
                   "--artefact", "done", "--", "/bin/sh", "-c", "echo >done"])
    shutil.rmtree(workspace)
    events = [json.loads(line) for line in out.splitlines()]
    arms = [event for event in events if event["event"] == "verdict"][0]["arms"][:4]
    return arms[3]["ended_ms"] - arms[0]["begun_ms"]


def fill(ledger, newest):
    """A ledger of CELLS cells; NEWEST of them are the newest of a vendor, version, boundary and sandbox."""
    with sqlite3.connect(ledger, timeout=10) as db:
        db.execute("DELETE FROM cell")
        db.execute("""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO cell (uid, verdict, newest, begun_ms, ended_ms, vendor, vendor_version, boundary,
                sandbox, program, sha256, walls, kernel, host, falsify, why)
            SELECT 0, 1 + i % 3, i > ?, 1, 1, 'vendor' || (i % 10), 'v' || (i / 40),
                CASE WHEN i / 10 % 2 THEN 'domain' ELSE 'container' END, CASE WHEN i / 20 % 2 THEN 'on' ELSE 'off' END,
                '/opt/vendor/bin/vendor', printf('%064d', i), 'write-confined=landlock read-confined=userns+idmap',
                'some kernel', 'some host', 'saphan matrix measure --vendor vendor -- vendor', 'all arms held'
            FROM n""", (CELLS, CELLS - newest))
    db.close()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    folder = tempfile.mkdtemp(prefix="saphan-bench.", dir="/var/tmp")
    try:
        tell("a plain leg", [once(["saphan", "run", "--", "/bin/true"])[0] for _ in range(rounds)])
        tell("saphan machine probe-confinement",
             [once(["saphan", "machine", "probe-confinement"])[0] for _ in range(rounds)])
        tell("arms 0 to 3 of a cell, together", [own_arms(folder) for _ in range(rounds)])
        ledger = os.path.join(os.environ["SAPHAN_PRIVATE"], "state", "ledger.db")
        for newest in (100, 1000, 10000):
            fill(ledger, newest)
            for command in (["matrix", "show"], ["matrix", "show", "--vendor", "vendor3"],
                            ["matrix", "show", str(CELLS)], ["machine", "show"]):
                once(["saphan"] + command)
                tell("saphan %s: %d cells, %d newest" % (" ".join(command), CELLS, newest),
                     [once(["saphan"] + command)[0] for _ in range(rounds)])
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main() if "SAPHAN_PRIVATE" in os.environ else beside_a_daemon())
