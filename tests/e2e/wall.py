#!/usr/bin/env python3
"""wall.py [NAME=PATH...] - tries every way to the network and to sockets of the host, for wall.sh.

Prints "WHAT yes" or "WHAT no WHY", a line each: outside of a leg each must be yes.
"""
import ctypes
import os
import socket
import struct
import sys

PUBLIC, PUBLIC6 = "11.22.33.44", "2606:4700::99"
libc = ctypes.CDLL(None, use_errno=True)


def tcp():
    socket.create_connection((PUBLIC, 80), 3).close()


def tcp6():
    socket.create_connection((PUBLIC6, 80), 3).close()


def loopback():
    socket.create_connection(("127.0.0.1", 8000), 3).close()


def bind():
    with socket.socket() as sock:
        sock.bind((PUBLIC, 0))


def mptcp():
    """TCP to whoever does not know better; not TCP to a rule on TCP."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as sock:
        sock.settimeout(3)
        sock.connect((PUBLIC, 80))


def smc():
    """The same, where the kernel has it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256) as sock:
        sock.settimeout(3)
        sock.connect((PUBLIC, 80))


def fastopen():
    """A connection without connect(2)."""
    with socket.socket() as sock:
        sock.sendto(b"x", 0x20000000, (PUBLIC, 80))


def query(family, address):
    name = b"\x03api\x07example\x04test\x00"
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        sock.sendto(struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1), address)
        return sock.recv(512)


def dns():
    query(socket.AF_INET, ("127.0.0.1", 53))


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", (PUBLIC, 9))


def echo(kind):
    packet = struct.pack(">BBHHH", 8, 0, 0, 1, 1)
    total = sum(struct.unpack(">4H", packet))
    total = (total & 0xffff) + (total >> 16)
    packet = struct.pack(">BBHHH", 8, 0, ~total & 0xffff, 1, 1)
    with socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP) as sock:
        sock.settimeout(2)
        sock.sendto(packet, (PUBLIC, 0))
        sock.recv(128)


def icmp():
    echo(socket.SOCK_DGRAM)


def raw():
    echo(socket.SOCK_RAW)


def netlink_kernel():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15).close()


def interfaces():
    """Netlink's route family is let: it must show nothing of the host."""
    with open("/proc/net/fib_trie") as trie:
        if PUBLIC not in trie.read():
            raise OSError(0, "not seen")


def vsock():
    socket.socket(40, socket.SOCK_STREAM).close()


def packet():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


def io_uring():
    ring = libc.syscall(425, 4, ctypes.create_string_buffer(256))
    if ring < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.close(ring)


def unix(address):
    def connect():
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(2)
            sock.connect(address)
            if sock.recv(16) != b"reached":
                raise OSError(0, "not reached")
    return connect


TRIES = {"tcp": tcp, "tcp6": tcp6, "host-loopback": loopback, "bind": bind, "mptcp": mptcp, "smc": smc, "fastopen": fastopen, "dns": dns, "udp": udp, "icmp": icmp, "raw": raw,
         "netlink": netlink_kernel, "interfaces": interfaces, "vsock": vsock, "packet": packet, "io_uring": io_uring,
         "abstract": unix("\0saphan-wall")}
for word in sys.argv[1:]:
    TRIES[word.split("=")[0]] = unix(word.split("=")[1])
for name, attempt in TRIES.items():
    try:
        attempt()
        print(name, "yes")
    except OSError as error:
        print(name, "no", error.strerror or error)
