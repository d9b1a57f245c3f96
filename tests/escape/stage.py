"""stage.py - what each script here gets (WORK UID GID) and says (TAP)."""
import sys

WORK, UID, GID = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tests = 0


def check(name, good, known=""):
    global tests
    tests += 1
    if not good:
        print("# %s" % str(known).replace("\n", "\n# "))
    print("%s %d - %s" % ("ok" if good else "not ok", tests, name), flush=True)


def skip(name, feature):
    global tests
    tests += 1
    print("ok %d - %s # skip %s" % (tests, name, feature), flush=True)


def finish():
    print("1..%d" % tests)
