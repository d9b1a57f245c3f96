#!/usr/bin/env python3
"""in_domain.py COMMAND... - runs COMMAND in a Landlock domain that refuses it next to nothing: it may bind
no TCP port.  As root without no_new_privs, so that nothing else tells of it."""
import ctypes
import os
import struct
import sys

CREATE_RULESET, RESTRICT_SELF, PR_SET_NO_NEW_PRIVS = 444, 446, 38
libc = ctypes.CDLL(None, use_errno=True)


def must(result, what):
    if result < 0:
        sys.exit("%s: %s" % (what, os.strerror(ctypes.get_errno())))
    return result


ruleset = must(libc.syscall(CREATE_RULESET, struct.pack("QQ", 0, 1), 16, 0), "landlock_create_ruleset")
if os.geteuid() != 0:
    must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
must(libc.syscall(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
os.close(ruleset)
os.execvp(sys.argv[1], sys.argv[1:])
