#!/usr/bin/env python3
"""tap.py - turns what tests print into TAP lines that name their test, and counts them.

  tap.py meson TESTLOG.json          a meson test log: cmocka's single tests, TAP, or one per program
  tap.py script NAME STATUS FILE     what the TAP script NAME printed, and its exit status
  tap.py count FILE...               prints "N passed, N failed, N skipped"
  tap.py failures FILE...            prints the failures, with what was said about them

With SAPHAN_MUST_RUN=1 a skip is a failure.
"""
import json
import os
import re
import sys

MUST_RUN = os.environ.get("SAPHAN_MUST_RUN") == "1"
TAP = re.compile(r"^(ok|not ok)\b\s*(\d*)\s*-?\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\s*(#\s*skip.*)?$", re.I)
SKIP = re.compile(r"#\s*skip\b\s*(.*)$", re.I)
CMOCKA = re.compile(r"^\[\s*(OK|FAILED|SKIPPED)\s*\] (\S+)\s*$")
CMOCKA_END = re.compile(r"^\[==========\] .*test\(s\) run")
COUNTED = re.compile(r"^(ok|not ok) - ")


def emit(good, name, skipped=None, said=()):
    if skipped is not None and MUST_RUN:
        good, name, skipped = False, "%s (skipped: %s)" % (name, skipped), None
    print("%s - %s%s" % ("ok" if good else "not ok", name,
                         "" if skipped is None else " # skip " + skipped))
    if not good:
        for line in said:
            print("#   " + line)


def from_cmocka(program, text):
    """The results of single tests; the summary at the end, which repeats failures, is left out."""
    found, said, running = [], [], False
    for line in text.splitlines():
        if CMOCKA_END.match(line):
            running = False
        elif line.startswith("[==========] Running"):
            running = True
        match = CMOCKA.match(line) if running else None
        if match:
            found.append((match.group(1), "%s: %s" % (program, match.group(2)), said))
            said = []
        elif not line.startswith("[ RUN"):
            said.append(line)
    return found


def from_tap(program, text):
    """Returns (results, plan or None)."""
    found, said, plan = [], [], None
    for line in text.splitlines():
        match, planned = TAP.match(line), PLAN.match(line)
        if planned:
            plan = int(planned.group(1))
            if plan == 0 and planned.group(2):
                found.append(("SKIPPED", program, [SKIP.search(line).group(1)]))
                plan = 1
        elif match:
            skip = SKIP.search(match.group(3))
            name = "%s: %s" % (program, SKIP.sub("", match.group(3)).strip() or match.group(2))
            if skip and match.group(1) == "ok":
                found.append(("SKIPPED", name, [skip.group(1)]))
            else:
                found.append(("OK" if match.group(1) == "ok" else "FAILED", name, said))
            said = []
        else:
            said.append(line)
    return found, plan


def report(found):
    for state, name, said in found:
        if state == "SKIPPED":
            emit(True, name, said[-1] if said else "no reason given")
        else:
            emit(state == "OK", name, None, said[-60:])


def meson(path):
    with open(path) as lines:
        for line in lines:
            entry = json.loads(line)
            program = entry["name"].split(" / ")[-1]
            text = entry.get("stdout", "") + "\n" + entry.get("stderr", "")
            found = from_cmocka(program, text) or from_tap(program, text)[0]
            # cmocka says elsewhere what was wrong: with the first failure stands all of that.
            first = next((i for i, row in enumerate(found) if row[0] == "FAILED"), None)
            if first is not None and entry.get("stderr"):
                found[first] = found[first][:2] + (found[first][2] + entry["stderr"].splitlines(),)
            good = entry["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
            if not found and entry["result"] == "SKIP":
                found = [("SKIPPED", program, text.strip().splitlines()[-1:])]
            elif not found:
                found = [("OK" if good else "FAILED", program, text.splitlines())]
            elif not good and not any(state == "FAILED" for state, _, _ in found):
                found.append(("FAILED", "%s: ended with %s, status %s" % (
                    program, entry["result"], entry.get("returncode")), text.splitlines()))
            report(found)


def script(name, status, path):
    with open(path, errors="replace") as file:
        text = file.read()
    found, plan = from_tap(name, text)
    report(found)
    failed = any(state == "FAILED" for state, _, _ in found)
    if plan is None or plan != len(found):
        emit(False, "%s: its plan says %s tests, it ran %d (status %s)" % (
            name, plan, len(found), status), None, text.splitlines()[-30:])
    elif status != "0" and not failed:
        emit(False, "%s: exit status %s" % (name, status), None, text.splitlines()[-30:])


def count(paths):
    passed = failed = skipped = 0
    for path in paths:
        with open(path, errors="replace") as lines:
            for line in lines:
                match = COUNTED.match(line)
                if not match:
                    continue
                if match.group(1) == "not ok":
                    failed += 1
                elif SKIP.search(line):
                    skipped += 1
                else:
                    passed += 1
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))


def failures(paths):
    for path in paths:
        showing = False
        with open(path, errors="replace") as lines:
            for line in lines:
                if COUNTED.match(line):
                    showing = line.startswith("not ok")
                if showing:
                    print(line.rstrip("\n"))


def main(argv):
    if len(argv) == 2 and argv[0] == "meson":
        meson(argv[1])
    elif len(argv) == 4 and argv[0] == "script":
        script(argv[1], argv[2], argv[3])
    elif argv and argv[0] == "count":
        count(argv[1:])
    elif argv and argv[0] == "failures":
        failures(argv[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
