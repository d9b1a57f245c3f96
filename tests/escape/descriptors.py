#!/usr/bin/env python3
"""descriptors.py WORK UID GID - descriptors that no honest client would send, as grants and as streams:
each is refused by name, or is harmless; nothing hangs, and saphand's own files stay out of reach.  TAP."""
import array
import ctypes
import os
import select
import signal
import socket

import rawclient as raw
from stage import GID, UID, WORK, check, finish

PRIVATE = os.environ["SAPHAN_PRIVATE"]
libc = ctypes.CDLL(None, use_errno=True)
MS_BIND, CLONE_NEWNS, OPEN_TREE_CLONE = 4096, 0x00020000, 1
kept = []


def ask(body, descriptors=()):
    client = raw.Client()
    said = client.ask(body, descriptors)
    client.close()
    return said


def path(where, flags=os.O_PATH):
    return os.open(where, flags)


def keep(thing):
    kept.append(thing)
    return thing.fileno()


def folder(name):
    where = os.path.join(WORK, name)
    os.mkdir(where)
    os.chown(where, UID, GID)
    return where


def bind(source, target):
    if libc.mount(source.encode(), target.encode(), None, MS_BIND, None) != 0:
        raise OSError(ctypes.get_errno(), "bind")


def unbind(target):
    libc.umount2(target.encode(), 2)


def granted(name, descriptor, wanted, kind=raw.WRITE, argv=("/bin/true",), **further):
    said = ask(raw.run(list(argv), [raw.grant(kind, 1)], **further), [descriptor])
    check("%s: %s" % (name, wanted), said == wanted, said)
    os.close(descriptor)


def streamed(name, descriptor, wanted):
    for number, which in ((0, "stdin"), (1, "stdout")):
        streams = [raw.NULL] * 3
        streams[number] = (raw.DESCRIPTOR, 1)
        said = ask(raw.run(["/bin/sh", "-c", "cat >/dev/null 2>&1; :"], streams=streams), [descriptor])
        check("%s as %s: %s" % (name, which, wanted), said == wanted, said)


def from_another_namespace(*paths):
    """Descriptors of PATHS, opened in a mount namespace of its own; the process that is in it."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        libc.unshare(CLONE_NEWNS)
        theirs.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [path(p) for p in paths]))])
        signal.pause()
    _, control, _, _ = ours.recvmsg(1, 1024)
    found = array.array("i")
    found.frombytes(control[0][2])
    return list(found), pid


def own_files():
    """Saphand's own, by every name they have."""
    covers = "refused grant-covers-saphand"
    granted("the private folder", path(PRIVATE), covers)
    granted("its state", path(PRIVATE + "/state"), covers)
    granted("inside its state", path(PRIVATE + "/state/output"), covers)
    granted("a folder above it", path(os.path.dirname(PRIVATE)), covers)
    granted("the root", path("/"), covers)
    for inside in ("", "/state", "/state/output"):
        place = folder("bind" + inside.replace("/", "-"))
        bind(PRIVATE + inside, place)
        granted("a bind mount of %s" % (inside or "the private folder"), path(place), covers)
        granted("a folder with such a bind mount in it", path(WORK), covers)
        unbind(place)
    os.symlink(PRIVATE + "/state", os.path.join(WORK, "link"))
    granted("a folder with a symlink to it", path(WORK), "GREEN")
    granted("control: another bind mount", bound_elsewhere(), "GREEN")


def bound_elsewhere():
    source, place = folder("source"), folder("elsewhere")
    bind(source, place)
    descriptor = path(place)
    return descriptor


def odd_grants():
    here = folder("here")
    granted("control: a folder", path(here), "GREEN")
    for where in ("/proc", "/proc/self", "/sys", "/dev", "/dev/pts"):
        for kind in (raw.READ, raw.WRITE):
            granted(where, path(where), "refused grant-filesystem", kind)
    os.mkfifo(os.path.join(here, "fifo"))
    granted("a FIFO by O_PATH", path(here + "/fifo"), "refused grant-type")
    os.symlink("/etc", os.path.join(here, "link"))
    granted("a symlink itself", path(here + "/link", os.O_PATH | os.O_NOFOLLOW), "refused grant-type")
    granted("a device", path("/dev/null"), "refused grant-type")
    granted("a memfd", os.memfd_create("x"), "refused grant-absent")
    gone = folder("gone")
    descriptor = path(gone)
    os.rmdir(gone)
    granted("a folder that was removed", descriptor, "refused grant-absent")
    granted("a namespace", path("/proc/self/ns/mnt", os.O_RDONLY), "refused grant-absent")
    granted("a detached mount", libc.syscall(428, -100, here.encode(), OPEN_TREE_CLONE),
            "refused grant-foreign-mount")
    foreign, pid = from_another_namespace(here, "/usr", PRIVATE + "/state")
    for name, descriptor in zip(("a folder", "/usr", "saphand's state"), foreign):
        granted("%s of another mount namespace" % name, descriptor, "refused grant-foreign-mount")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def odd_streams():
    bad = "refused stdio-type"
    master, slave = os.openpty()
    streamed("a terminal", slave, bad)
    streamed("a terminal's other end", master, bad)
    streamed("a folder", path("/usr", os.O_RDONLY), bad)
    streamed("an O_PATH descriptor", path("/etc/passwd"), bad)
    streamed("an epoll", keep(select.epoll()), bad)
    streamed("an eventfd", os.eventfd(0), bad)
    streamed("a pidfd", os.pidfd_open(os.getpid()), bad)
    streamed("a TCP socket", keep(socket.socket()), bad)
    streamed("a netlink socket", keep(socket.socket(16, socket.SOCK_RAW, 0)), bad)
    streamed("a datagram socket", keep(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]), bad)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("\0saphan-escape-%d" % os.getpid())
    listening.listen(1)
    streamed("a listening socket", keep(listening), bad)
    streamed("a kernel log", path("/dev/kmsg", os.O_RDWR), bad)
    streamed("control: a memfd", os.memfd_create("x"), "GREEN")


def named_twice():
    """Several fields may name one descriptor, and saphand keeps none that it does not need."""
    here = folder("twice")
    said = ask(raw.run(["/bin/true"], [raw.grant(raw.READ, 1), raw.grant(raw.WRITE, 1)]), [path(here)])
    check("one descriptor for two grants", said == "GREEN", said)
    written = os.open(os.path.join(here, "out"), os.O_RDWR | os.O_CREAT)
    os.fchown(written, UID, GID)
    said = ask(raw.run(["/bin/echo", "x"], [raw.grant(raw.WRITE, 1)],
                       streams=(raw.NULL, (raw.DESCRIPTOR, 1), (raw.DESCRIPTOR, 1))), [written])
    check("one descriptor for a grant and two streams", said == "GREEN" and os.pread(written, 9, 0) == b"x\n", said)

    reading, writing = os.pipe()
    shut = raw.Client()
    shut.send(raw.frame(raw.run(["/bin/sh", "-c", "exec >&-; exec sleep 600"],
                                streams=(raw.NULL, (raw.DESCRIPTOR, 1), raw.NULL)), 10), [writing])
    os.close(writing)
    ended = bool(select.select([reading], [], [], 10)[0]) and os.read(reading, 1) == b""
    check("a pipe that the leg has closed is closed, though the leg runs on", ended)
    reading, writing = os.pipe()
    shut.close()
    shut = raw.Client()
    shut.send(raw.frame(raw.run(["/bin/sh", "-c", "exec <&-; exec sleep 600"],
                                streams=((raw.DESCRIPTOR, 1), raw.NULL, raw.NULL)), 10), [reading])
    os.close(reading)
    poll = select.poll()
    poll.register(writing, 0)
    check("and so is one that it reads", bool(poll.poll(10000)))
    shut.close()


def carve_outs():
    """What is put into a workspace to keep a name from coming to be goes with the leg."""
    here = folder("carved")
    before = os.stat(here).st_mtime_ns
    for names in (["a/b"], ["a/b/c", "a/d"], ["x" * 250], ["a/" * 200 + "b"], ["new\nline", "esc\x1b[2J"]):
        said = ask(raw.run(["/bin/true"], [raw.grant(raw.WORKSPACE, 1)], carve_outs=names), [path(here)])
        left = os.listdir(here)
        check("nothing is left for %.20r" % names, said == "GREEN" and not left, (said, left))
    check("and the folder's time is what it was", os.stat(here).st_mtime_ns == before)


own_files()
odd_grants()
odd_streams()
named_twice()
carve_outs()
check("and saphand serves on", raw.served())
finish()
