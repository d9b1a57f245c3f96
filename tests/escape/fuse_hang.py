#!/usr/bin/env python3
"""fuse_hang.py DIRECTORY UID GID - mounts a FUSE file system of UID's own on DIRECTORY (as fusermount
would) whose server answers the first question and no other.  Says "mounted", and serves until its
standard input ends."""
import ctypes
import os
import select
import struct
import sys

place, uid, gid = sys.argv[1], sys.argv[2], sys.argv[3]
device = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = "fd=%d,rootmode=40000,user_id=%s,group_id=%s" % (device, uid, gid)
if libc.mount(b"hang", place.encode(), b"fuse", 0x6, options.encode()) != 0:
    sys.exit("mount: %s" % os.strerror(ctypes.get_errno()))
request = os.read(device, 1 << 17)
unique = struct.unpack_from("<Q", request, 8)[0]
body = struct.pack("<IIIIHHIIHHI", 7, 31, 4096, 0, 12, 10, 4096, 1, 0, 0, 0) + bytes(28)
os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
print("mounted", flush=True)
while True:
    readable, _, _ = select.select([0, device], [], [])
    if 0 in readable and not os.read(0, 4096):
        break
    if device in readable:
        os.read(device, 1 << 17)  # taken, so that the kernel waits for the answer whatever happens
        print("asked", flush=True)
libc.umount2(place.encode(), 2)
