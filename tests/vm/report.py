#!/usr/bin/env python3
"""report.py {VERSION CONSOLE.log}... - what the emulated machines said, as one TAP stream."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
import tap  # noqa: E402

number = 0


def emit(state, name, said):
    global number
    number += 1
    if state == "SKIPPED":
        print("ok %d - %s # skip %s" % (number, name, said[-1] if said else "no reason given"))
        return
    print("%s %d - %s" % ("ok" if state == "OK" else "not ok", number, name))
    if state != "OK":
        for line in said[-40:]:
            print(line if line.startswith("#") else "# " + line)


def program(kernel, name, status, lines):
    text = "\n".join(lines)
    label = "%s %s" % (kernel, name)
    found = tap.from_cmocka(label, text)
    plan = len(found)
    if not found:
        found, plan = tap.from_tap(label, text)
    for state, title, said in found:
        emit(state, title, said)
    failed = any(state == "FAILED" for state, _, _ in found)
    if not found or plan != len(found) or (status != 0 and not failed):
        emit("FAILED", "%s: ran %d tests of %s, status %d" % (label, len(found), plan, status), lines)


def machine(version, path):
    kernel = re.match(r"\d+\.\d+", version).group(0)
    with open(path, errors="replace") as log:
        lines = [line.rstrip("\r\n") for line in log]
    name, inside, whole = None, [], False
    for line in lines:
        begin, end = re.search(r"=== begin (\S+)$", line), re.match(r"=== end (\S+) (\d+)$", line)
        if begin:
            name, inside = begin.group(1), []
        elif end and end.group(1) == name:
            program(kernel, name, int(end.group(2)), inside)
            name = None
        elif name:
            inside.append(line)
        whole = whole or line == "=== all"
    emit("OK" if whole else "FAILED", "%s: booted, ran all, and went off" % kernel,
         ["cut off in %s" % name] + lines[-30:])


for version, path in zip(sys.argv[1::2], sys.argv[2::2]):
    machine(version, path)
print("1..%d" % number)
