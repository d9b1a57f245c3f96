#!/usr/bin/env python3
"""tree.py DIR - all of DIR that a user could tell: names, types, modes, owners, sizes, times of
change, contents, link targets, extended attributes.  Two equal outputs: the same tree, byte for byte."""
import hashlib
import os
import stat
import sys


def describe(path, name):
    status = os.lstat(path)
    line = [oct(status.st_mode), str(status.st_uid), str(status.st_gid), str(status.st_mtime_ns)]
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            line += [str(status.st_size), str(status.st_nlink), hashlib.sha256(file.read()).hexdigest()]
    elif stat.S_ISLNK(status.st_mode):
        line.append(os.readlink(path))
    for attribute in sorted(os.listxattr(path, follow_symlinks=False)):
        line.append("%s=%r" % (attribute, os.getxattr(path, attribute, follow_symlinks=False)))
    return "%s %s" % (name, " ".join(line))


def walk(root):
    yield describe(root, ".")
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            yield describe(path, os.path.relpath(path, root))


print("\n".join(walk(sys.argv[1])))
