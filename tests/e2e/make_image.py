#!/usr/bin/env python3
"""make_image.py CASE TO [ROOT] - writes an OCI layout, good or bad, into the directory TO.

The layers are made entry by entry, so that what no tool would write can be written.  ROOT holds the
files of a small userland for the good ones.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import zlib

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
GZIP = "application/vnd.oci.image.layer.v1.tar+gzip"
PLAIN = "application/vnd.oci.image.layer.v1.tar"


def entry(tar, name, kind=tarfile.REGTYPE, content=b"", link="", mode=0o644, uid=0, gid=0):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.uid, info.gid = kind, link, mode, uid, gid
    info.size, info.mtime = len(content), 1600000000
    if kind in (tarfile.CHRTYPE, tarfile.BLKTYPE):
        info.devmajor, info.devminor = 1, 3
    tar.addfile(info, io.BytesIO(content) if content else None)


def directory(tar, name, mode=0o755):
    entry(tar, name, tarfile.DIRTYPE, mode=mode)


def layer(fill):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        fill(tar)
    return out.getvalue()


def userland(root):
    def fill(tar):
        for folder, names, files in os.walk(root):
            for name in sorted(names + files):
                path = os.path.join(folder, name)
                info = tar.gettarinfo(path, os.path.relpath(path, root))
                info.uid = info.gid = 0
                if info.isfile():
                    with open(path, "rb") as file:
                        tar.addfile(info, file)
                else:
                    tar.addfile(info)
    return layer(fill)


class Layout:
    def __init__(self, to):
        self.to, self.layers, self.diff_ids = to, [], []
        self.config = {"Env": ["PATH=/bin", "FROM_IMAGE=yes"], "Cmd": ["sh", "-c", "echo the image says so"],
                       "WorkingDir": "/data", "User": "bob"}
        self.architecture, self.manifest = ARCHITECTURE, {}
        os.makedirs(os.path.join(to, "blobs", "sha256"))

    def blob(self, content):
        digest = hashlib.sha256(content).hexdigest()
        with open(os.path.join(self.to, "blobs", "sha256", digest), "wb") as file:
            file.write(content)
        return "sha256:" + digest, len(content)

    def add(self, tar, media=GZIP):
        stored = gzip.compress(tar, 1, mtime=0) if media == GZIP else tar
        digest, size = self.blob(stored)
        self.layers.append({"mediaType": media, "digest": digest, "size": size})
        self.diff_ids.append("sha256:" + hashlib.sha256(tar).hexdigest())

    def write(self, layout=True):
        config = {"architecture": self.architecture, "os": "linux", "config": self.config,
                  "rootfs": {"type": "layers", "diff_ids": self.diff_ids}}
        digest, size = self.blob(json.dumps(config).encode())
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest,
                               "size": size}, "layers": self.layers}
        manifest.update(self.manifest)
        digest, size = self.blob(json.dumps(manifest).encode())
        index = {"schemaVersion": 2, "manifests": [
            {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": size}]}
        with open(os.path.join(self.to, "index.json"), "w") as file:
            json.dump(index, file)
        with open(os.path.join(self.to, "oci-layout"), "w") as file:
            file.write('{"imageLayoutVersion": "1.0.0"}')

    def path(self, digest):
        return os.path.join(self.to, "blobs", "sha256", digest.split(":")[1])


def one(fill):
    def make(out, root):
        out.add(layer(fill))
    return make


def through_link(tar):
    entry(tar, "out", tarfile.SYMTYPE, link="/etc")
    entry(tar, "out/evil", content=b"evil")


def through_deep_link(tar):
    directory(tar, "a")
    entry(tar, "a/up", tarfile.SYMTYPE, link="../../../..")
    entry(tar, "a/up/tmp/evil", content=b"evil")


def whiteout_through_link(tar):
    entry(tar, "out", tarfile.SYMTYPE, link="/etc")
    entry(tar, "out/.wh.passwd")


def opaque_through_link(tar):
    entry(tar, "out", tarfile.SYMTYPE, link="/etc")
    entry(tar, "out/.wh..wh..opq")


def link_then_directory(tar):
    entry(tar, "out", tarfile.SYMTYPE, link="/tmp")
    directory(tar, "out/sub")


def good(out, root):
    """Four layers: a userland, then what each later one changes."""
    out.add(userland(root))

    def second(tar):
        directory(tar, "data")
        entry(tar, "data/taken", content=b"taken away later\n")
        entry(tar, "data/kept", content=b"kept\n")
        directory(tar, "hidden")
        entry(tar, "hidden/below", content=b"below\n")
        entry(tar, "bin/setuid", content=b"#!/bin/sh\nid -u\n", mode=0o4755)
        entry(tar, "data/hard", tarfile.LNKTYPE, link="data/kept")
        entry(tar, "data/soft", tarfile.SYMTYPE, link="/data/kept")
        entry(tar, "data/odd \xe4\u20ac\n name", content=b"odd\n")
        entry(tar, "dev/null", tarfile.CHRTYPE)
        directory(tar, "tmp", 0o1777)
        entry(tar, "data/bobs", content=b"bobs\n", uid=1234, gid=77, mode=0o640)

    def third(tar):
        entry(tar, "data/.wh.taken")
        entry(tar, "data/replaced", content=b"new\n")
        entry(tar, "hidden/.wh..wh..opq")
        entry(tar, "hidden/above", content=b"above\n")
        entry(tar, "data/twice", content=b"first\n")
        entry(tar, "data/twice", content=b"second\n")

    def fourth(tar):
        entry(tar, "proc", tarfile.SYMTYPE, link="/etc")
        entry(tar, "dev", tarfile.SYMTYPE, link="/data")
        entry(tar, "sys", content=b"no directory\n")
        entry(tar, "run", tarfile.SYMTYPE, link="/../../../../run")

    out.add(layer(second))
    out.add(layer(third), PLAIN)
    out.add(layer(fourth))


def tall(count):
    def make(out, root):
        """A userland, and so many layers with it; each takes away what the one below it brought."""
        out.add(userland(root))
        for number in range(1, count):
            def fill(tar):
                directory(tar, "data")
                entry(tar, "data/%d" % number, content=b"%d\n" % number)
                if number > 1:
                    entry(tar, "data/.wh.%d" % (number - 1))
            out.add(layer(fill))
    return make


def wrong_digest(out, root):
    out.add(layer(lambda tar: entry(tar, "a", content=b"a")))
    with open(out.path(out.layers[0]["digest"]), "r+b") as file:
        file.seek(20)
        file.write(b"\x55")


def wrong_content(out, root):
    out.add(layer(lambda tar: entry(tar, "a", content=b"a")))
    out.diff_ids[0] = "sha256:" + "0" * 64


def truncated(out, root):
    out.add(layer(lambda tar: entry(tar, "a", content=os.urandom(100000))))
    os.truncate(out.path(out.layers[0]["digest"]), 50000)


def truncated_size(out, root):
    truncated(out, root)
    out.layers[0]["size"] = 50000


def missing(out, root):
    out.add(layer(lambda tar: entry(tar, "a", content=b"a")))
    os.unlink(out.path(out.layers[0]["digest"]))


def foreign(out, root):
    good(out, root)
    out.architecture = "s390x"


def media_type(out, root):
    good(out, root)
    out.layers[1]["mediaType"] = "application/vnd.example.squashfs"


def config_type(out, root):
    good(out, root)
    out.manifest = {"config": {"mediaType": "application/vnd.example.helm+json", "digest": "sha256:" + "0" * 64,
                               "size": 2}}


def not_compressed(out, root):
    out.add(layer(lambda tar: entry(tar, "a", content=b"a")), PLAIN)
    out.layers[0]["mediaType"] = GZIP


def many(out, root):
    """A million tiny entries: gzip members of a thousand each, one after the other."""
    def fill(tar):
        for i in range(1000):
            entry(tar, "d/%03d" % i)
    blocks = layer(fill)[:512 * 1000]
    stored = gzip.compress(blocks, 9, mtime=0) * 1000 + gzip.compress(bytes(1024), 9, mtime=0)
    digest, length = out.blob(stored)
    out.layers.append({"mediaType": GZIP, "digest": digest, "size": length})
    out.diff_ids.append("sha256:" + "0" * 64)  # nobody gets as far as to look


def bomb(out, root):
    """10 GiB of zeros in some 10 MiB, as one file."""
    size, squeeze, stored = 10 << 30, zlib.compressobj(9, zlib.DEFLATED, 31), io.BytesIO()
    content, block = hashlib.sha256(), bytes(1 << 20)
    info = tarfile.TarInfo("zeros")
    info.size = size
    header = info.tobuf(tarfile.GNU_FORMAT)
    stored.write(squeeze.compress(header))
    # Only the beginning is needed: who unpacks it must stop long before its end.
    for _ in range(256):
        stored.write(squeeze.compress(block))
    stored.write(squeeze.flush())
    digest, length = out.blob(stored.getvalue())
    out.layers.append({"mediaType": GZIP, "digest": digest, "size": length})
    out.diff_ids.append("sha256:" + content.hexdigest())


def tail_bomb(out, root):
    """A small tar with 256 MiB of zeros behind its end."""
    tar = layer(lambda tar: entry(tar, "a", content=b"a"))
    squeeze, stored = zlib.compressobj(9, zlib.DEFLATED, 31), io.BytesIO()
    content = hashlib.sha256(tar)
    stored.write(squeeze.compress(tar))
    block = bytes(1 << 20)
    for _ in range(256):
        content.update(block)
        stored.write(squeeze.compress(block))
    stored.write(squeeze.flush())
    digest, length = out.blob(stored.getvalue())
    out.layers.append({"mediaType": GZIP, "digest": digest, "size": length})
    out.diff_ids.append("sha256:" + content.hexdigest())


CASES = {
    "good": good, "tall": tall(100), "too-tall": tall(101), "through-link": one(through_link), "through-deep-link": one(through_deep_link),
    "whiteout-through-link": one(whiteout_through_link), "opaque-through-link": one(opaque_through_link),
    "link-then-directory": one(link_then_directory),
    "hard-link-up": one(lambda tar: entry(tar, "h", tarfile.LNKTYPE, link="../../etc/shadow")),
    "hard-link-absolute": one(lambda tar: entry(tar, "h", tarfile.LNKTYPE, link="/etc/shadow")),
    "hard-link-below": one(lambda tar: entry(tar, "h", tarfile.LNKTYPE, link="etc/shadow")),
    "dot-dot": one(lambda tar: entry(tar, "../evil", content=b"evil")),
    "dot-dot-inside": one(lambda tar: entry(tar, "a/../../evil", content=b"evil")),
    "absolute": one(lambda tar: entry(tar, "/evil", content=b"evil")),
    "device": one(lambda tar: entry(tar, "null", tarfile.CHRTYPE)),
    "block-device": one(lambda tar: entry(tar, "sda", tarfile.BLKTYPE)),
    "whiteout-of-nothing": one(lambda tar: entry(tar, "a/.wh.")),
    "whiteout-of-up": one(lambda tar: entry(tar, "a/.wh...")),
    "whiteout-unknown": one(lambda tar: entry(tar, "a/.wh..wh.aufs")),
    "deepest": one(lambda tar: entry(tar, "d/" * 199 + "f", content=b"f")),
    "too-deep": one(lambda tar: entry(tar, "d/" * 200 + "f", content=b"f")),
    "owner": one(lambda tar: entry(tar, "a", uid=1 << 30)),
    "root-is-a-link": one(lambda tar: entry(tar, "./", tarfile.SYMTYPE, link="/etc")),
    "wrong-digest": wrong_digest, "wrong-content": wrong_content, "truncated": truncated,
    "truncated-size": truncated_size, "missing": missing, "foreign": foreign, "media-type": media_type,
    "config-type": config_type, "not-compressed": not_compressed, "bomb": bomb, "tail-bomb": tail_bomb,
    "many": many,
}


def main():
    case, to = sys.argv[1:3]
    out = Layout(to)
    CASES[case](out, sys.argv[3] if len(sys.argv) > 3 else None)
    out.write()


main()
