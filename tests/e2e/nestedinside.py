"""Inside a leg that may build a sandbox of its own: what that lets, and what stays refused.

Each line: NAME RESULT, where RESULT is "ok" or the errno's name.  First as the leg is, then as root of a
user and mount namespace of its own ("nested.").
"""
import ctypes
import errno
import os
import resource
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
REMOUNT, BIND, REC, PRIVATE = 32, 4096, 16384, 1 << 18


def call(name, *args):
    ctypes.set_errno(0)
    r = getattr(libc, name)(*args)
    if r < 0:
        raise OSError(ctypes.get_errno(), name)
    return r


def mount(source, target, kind=None, flags=0, data=None):
    encode = lambda text: text.encode() if text is not None else None
    return call("mount", encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(data))


def syscall(number, *args):
    return call("syscall", ctypes.c_long(number), *args)


def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)


def tell(prefix, name, act):
    try:
        act()
        result = "ok"
    except OSError as error:
        result = errno.errorcode.get(error.errno, str(error.errno))
    print(prefix + name, result, flush=True)


def stopped(act):
    """Runs ACT in a child, for what changes the process."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        raise OSError(errno.EIO, "killed")
    if os.WEXITSTATUS(status):
        raise OSError(os.WEXITSTATUS(status), "child")


def socket_of(family, kind=socket.SOCK_RAW, protocol=0):
    return lambda: socket.socket(family, kind, protocol).close()


def refused(prefix):
    tell(prefix, "write-root", lambda: write("/new"))
    tell(prefix, "write-image", lambda: write("/etc/passwd"))
    tell(prefix, "write-read-grant", lambda: write("/ro/new"))
    tell(prefix, "write-sysctl", lambda: write("/proc/sys/kernel/core_pattern"))
    tell(prefix, "write-sysrq", lambda: write("/proc/sysrq-trigger", "h"))
    tell(prefix, "read-kcore", lambda: open("/proc/kcore", "rb").close())
    tell(prefix, "read-kmsg", lambda: open("/proc/kmsg", "rb").close())
    tell(prefix, "write-pid1-score", lambda: write("/proc/1/oom_score_adj", "1000"))
    tell(prefix, "pid1-root", lambda: os.listdir("/proc/1/root"))
    tell(prefix, "pid1-mem", lambda: open("/proc/1/mem", "rb").close())
    tell(prefix, "kill-pid1", lambda: os.kill(1, signal.SIGKILL))
    tell(prefix, "trace-pid1", lambda: call("ptrace", 16, 1, None, None))
    tell(prefix, "kill-outside", lambda: os.kill(int(sys.argv[1]), 0))
    for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
        tell(prefix, "setns-" + kind, lambda: call("setns", os.open("/proc/1/ns/" + kind, os.O_RDONLY), 0))
    tell(prefix, "device-node", lambda: os.mknod("/tmp/sda", 0o60600, os.makedev(8, 0)))
    tell(prefix, "null-node", lambda: os.mknod("/tmp/null", 0o20600, os.makedev(1, 3)))
    tell(prefix, "chown-outside", lambda: (write("/tmp/mine"), os.chown("/tmp/mine", 4242, 4242)))
    tell(prefix, "bpf", lambda: syscall(321, 0, None, 0))
    tell(prefix, "keyctl", lambda: syscall(250, 0, -3, 0))
    tell(prefix, "io_uring", lambda: syscall(425, 8, None))
    tell(prefix, "perf", lambda: syscall(298, None, 0, -1, -1, 0))
    tell(prefix, "userfaultfd", lambda: syscall(323, 0))
    tell(prefix, "open-by-handle", lambda: syscall(304, -1, None, 0))
    tell(prefix, "module", lambda: syscall(175, None, 0, None))
    tell(prefix, "packet-socket", socket_of(17))
    tell(prefix, "vsock", socket_of(40, socket.SOCK_STREAM))
    tell(prefix, "netlink-audit", socket_of(16, socket.SOCK_RAW, 9))
    tell(prefix, "egress", lambda: socket.create_connection(("192.0.2.1", 80), 1))


def become_root(flags):
    uid, gid = os.getuid(), os.getgid()
    call("unshare", NEWUSER | flags)
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", "0 %d 1" % uid)
    write("/proc/self/gid_map", "0 %d 1" % gid)


def map_foreign():
    call("unshare", NEWUSER)
    write("/proc/self/uid_map", "0 0 2")


def attempts():
    """As root of the nested namespaces."""
    mount("none", "/", None, REC | PRIVATE)
    tell("nested.", "own-tmpfs", lambda: mount("tmpfs", "/tmp", "tmpfs", 0, "size=1m"))
    tell("nested.", "own-write", lambda: write("/tmp/mine"))
    os.mkdir("/tmp/a")
    tell("nested.", "own-bind", lambda: mount("/data", "/tmp/a", None, BIND))
    tell("nested.", "bind-stays-read-only", lambda: write("/tmp/a/new"))
    tell("nested.", "bind-remount", lambda: mount("none", "/tmp/a", None, REMOUNT | BIND))
    tell("nested.", "root-remount", lambda: mount("none", "/", None, REMOUNT | BIND))
    tell("nested.", "grant-remount", lambda: mount("none", "/ro", None, REMOUNT | BIND))
    tell("nested.", "umount-grant", lambda: call("umount2", b"/ro", 2))
    tell("nested.", "umount-proc", lambda: call("umount2", b"/proc", 2))
    tell("nested.", "umount-root", lambda: call("umount2", b"/", 2))
    tell("nested.", "dev-remount", lambda: mount("none", "/dev", None, REMOUNT | BIND))
    for kind in ("ext4", "debugfs", "tracefs", "securityfs", "configfs", "binfmt_misc", "devtmpfs"):
        tell("nested.", "mount-" + kind, lambda: mount("none", "/tmp/a", kind))
    cgroups()
    refused("nested.")


def cgroups():
    def act():
        call("unshare", NEWCGROUP)
        os.mkdir("/tmp/cg")
        mount("cgroup2", "/tmp/cg", "cgroup2")
        tell("nested.", "cgroup-kill", lambda: write("/tmp/cg/cgroup.kill", "1"))
        tell("nested.", "cgroup-procs", lambda: write("/tmp/cg/cgroup.procs", "0"))
        tell("nested.", "cgroup-make", lambda: os.mkdir("/tmp/cg/x"))
    tell("nested.", "cgroup-mount", lambda: stopped(act))


def crowd():
    """How many children there can be."""
    become_root(0)
    count = 0
    try:
        while count < 500:
            if os.fork() == 0:
                signal.pause()
            count += 1
    except OSError as error:
        print("nested.crowd", errno.errorcode[error.errno], "at", "many" if count > 100 else "few", flush=True)
        os._exit(0)
    print("nested.crowd", "ok", flush=True)
    os._exit(0)


def nested_proc():
    """What bubblewrap does: a pid namespace with a /proc of its own."""
    become_root(NEWNS | NEWPID)
    stopped(lambda: mount("proc", "/proc", "proc"))


def landlock():
    libc.prctl(38, 1, 0, 0, 0)
    attr = ctypes.c_uint64(2)
    fd = syscall(444, ctypes.byref(attr), 8, 0)
    syscall(446, fd, 0)
    try:
        write("/tmp/after")
    except PermissionError:
        return
    raise OSError(errno.EUCLEAN, "the domain does not hold")


def main():
    refused("")
    tell("", "userns", lambda: stopped(lambda: become_root(NEWNS)))
    tell("", "proc-in-pid-namespace", lambda: stopped(nested_proc))
    tell("", "map-foreign-ids", lambda: stopped(map_foreign))
    tell("", "landlock", lambda: stopped(landlock))
    pid = os.fork()
    if pid == 0:
        become_root(NEWNS | NEWUTS | NEWIPC | NEWNET)
        attempts()
        os._exit(0)
    os.waitpid(pid, 0)
    pid = os.fork()
    if pid == 0:
        crowd()
    os.waitpid(pid, 0)


main()
