#!/usr/bin/env python3
"""check.py [ROOT] - holds the house's rules that a compiler does not.

Arrows between rooms (by #include and by the dependencies in meson.build), unique header names, no
`../` includes, files of at most 600 lines, functions of at most 80, no words of unfinished work, no
file named util, helper, manager or data, nothing unexpected at the top.  Prints each violation as
FILE:LINE: what; exits 1 if there was one.
"""
import os
import re
import sys

# Arrows point down only: the room, and the rooms whose headers it may include.
ROOMS = {
    "daemon/base": (),
    "policy": ("base",),
    "proto": ("base",),
    "daemon/kernel": ("base",),
    "daemon/seam": ("policy", "base"),
    "daemon/boundary/filter": ("kernel", "base"),
    "daemon/boundary": ("filter", "seam", "policy", "kernel", "base"),
    "daemon/zygote": ("seam", "policy", "kernel", "base"),
    "daemon/enclosure": ("seam", "policy", "kernel", "base"),
    "daemon/stub": ("zygote", "boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/checker": ("boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/ear": ("enclosure", "filter", "seam", "policy", "kernel", "base"),
    "daemon/door": ("enclosure", "filter", "seam", "policy", "kernel", "base"),
    "daemon/dialer": ("boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/opener": ("boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/probe": ("boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/reader": ("boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/maker": ("boundary", "filter", "seam", "policy", "kernel", "base"),
    "daemon/front": ("enclosure", "zygote", "proto", "filter", "seam", "policy", "kernel", "base"),
    "daemon/unpacker": ("filter", "seam", "policy", "kernel", "base"),
    "daemon/warden": ("policy", "seam", "kernel", "base"),
    "client": ("proto", "base"),
}
# Foreign headers that only some rooms may include.
FOREIGN = {
    "protobuf-c/": ("proto", "front", "client"),
    "sqlite3.h": ("warden",),
    "event2/": ("warden", "door"),
    "openssl/": ("door",),
    "seccomp.h": ("filter",),  # its generator, which runs at build time
    "jansson.h": ("client", "reader", "unpacker"),
    "archive.h": ("unpacker",),
    "archive_entry.h": ("unpacker",),
    "systemd/": ("warden", "base"),
    "cap-ng.h": ("boundary", "stub", "checker", "opener", "probe", "front", "kernel"),
}
# A table that is data, not an interface, and may be read across: `saphan explain` needs no saphand.
TABLES = {("client", "reasons.def"): "policy", ("client", "cell_texts.def"): "policy"}
TOP = {
    "meson.build", "meson_options.txt", "daemon", "client", "proto", "policy", "units", "tests",
    "packaging", "README.md", "NEWS.md", "LICENSE", "THREATS.md",
}
STANDARD = {name + ".h" for name in (
    "assert ctype dirent dlfcn errno fcntl fnmatch glob grp inttypes limits link locale math netdb poll "
    "pthread pwd regex sched search semaphore setjmp signal spawn stdarg stdbool stddef stdint stdio "
    "stdlib string strings syslog termios time unistd wait wchar").split()}
FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "manager", "data"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|not implemented|unimplemented")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
GENERATED = {"saphan.pb-c.h": "proto"}
SOURCE = (".c", ".h", ".def")
FILE_LINES, FUNCTION_LINES = 600, 80


class Check:
    def __init__(self, root):
        self.root, self.found = root, []
        self.files = sorted(self.walk())
        self.headers = {}
        self.texts = {}
        for path in self.files:
            if path.endswith(SOURCE + ("meson.build",)):
                with open(os.path.join(root, path), errors="replace") as file:
                    self.texts[path] = file.read().splitlines()

    def walk(self):
        for folder, folders, names in os.walk(self.root):
            relative = os.path.relpath(folder, self.root)
            folders[:] = [name for name in folders if not name.startswith(".")
                          and not (relative == "." and name.startswith("build"))
                          and name not in ("node_modules", "__pycache__")]
            for name in names:
                yield os.path.normpath(os.path.join(relative, name))

    def say(self, path, line, what):
        self.found.append("%s:%d: %s" % (path, line, what))

    @staticmethod
    def room_of(path):
        """(folder, name) of the room that PATH lies in, or (None, None)."""
        for room in ROOMS:
            if path.startswith(room + "/"):
                return room, room.split("/")[-1]
        return None, None

    def top(self):
        for name in os.listdir(self.root):
            if not name.startswith(".") and not name.startswith("build") and name not in TOP:
                self.say(name, 1, "does not belong at the top")

    def names(self):
        for path in self.files:
            stem = os.path.splitext(os.path.basename(path))[0].lower()
            parts = set(re.split(r"[-_.]", stem)) | set(os.path.dirname(path).split("/"))
            for word in sorted(parts & FORBIDDEN_NAMES):
                self.say(path, 1, "'%s' says nothing: name what it is for" % word)
            if path.endswith((".h", ".def")):
                name = os.path.basename(path)
                if name in self.headers:
                    self.say(path, 1, "header name is taken by %s" % self.headers[name])
                if name in STANDARD:
                    self.say(path, 1, "hides the system's header of that name")
                self.headers[name] = path

    def include(self, path, number, quote, name):
        folder, room = self.room_of(path)
        if ".." in name.split("/"):
            self.say(path, number, "include by '../'")
        base = os.path.basename(name)
        owner = GENERATED.get(base)
        system = quote == "<" and ("/" in name or os.path.exists(os.path.join("/usr/include", name)))
        if owner is None and base in self.headers and not system:
            owner = self.room_of(self.headers[base])[1] or "tests"
            if quote == "<" and base != "saphan.h":  # the public one
                self.say(path, number, "our own header %s is included with <>" % name)
        if owner and "/" in name:
            self.say(path, number, "%s: headers are included by bare name" % name)
        if room is None:
            return None
        if (room, name) in TABLES:
            return None
        if owner and owner != room and owner not in ROOMS[folder]:
            self.say(path, number, "room %s may not use room %s (%s)" % (room, owner, name))
        for prefix, rooms in FOREIGN.items():
            if quote == "<" and name.startswith(prefix) and room not in rooms:
                self.say(path, number, "room %s may not use <%s>" % (room, name))
        return owner

    def sources(self):
        self.used = {}
        for path, lines in self.texts.items():
            if not path.endswith(SOURCE):
                continue
            if self.room_of(path)[0] is None and not path.startswith("tests/"):
                self.say(path, 1, "lies in no room of the table: nothing holds its arrows")
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if match:
                    owner = self.include(path, number, match.group(1), match.group(2))
                    if owner and self.built(path):
                        self.used.setdefault(self.room_of(path)[0], {}).setdefault(owner, path)
                if UNFINISHED.search(line):
                    self.say(path, number, "words of unfinished work")
            if len(lines) > FILE_LINES and not path.startswith("tests/"):
                self.say(path, len(lines), "more than %d lines" % FILE_LINES)
            if path.endswith(".c"):
                self.functions(path, lines)

    def built(self, path):
        """Is PATH a source that its room's meson.build names, or a header of a room that is built?"""
        folder, _ = self.room_of(path)
        text = "\n".join(self.texts.get("%s/meson.build" % folder, []))
        return os.path.basename(path) in text if path.endswith(".c") else "_library(" in text

    def functions(self, path, lines):
        opened = 0
        for number, line in enumerate(lines, 1):
            if not opened and line.startswith("{"):
                opened = number
            elif opened and line.startswith("}"):
                if number - opened > FUNCTION_LINES:
                    self.say(path, opened, "function of %d lines" % (number - opened))
                opened = 0

    def meson(self):
        """What a room's meson.build links must be what it may use, and what it includes."""
        rooms = {name.split("/")[-1] for name in ROOMS}
        programs = self.programs()
        for folder, allowed in ROOMS.items():
            lines = self.texts.get(folder + "/meson.build")
            if lines is None:
                continue
            room, where = folder.split("/")[-1], folder + "/meson.build"
            text = "\n".join(re.sub(r"#.*", "", line) for line in lines)
            named = set(re.findall(r"\b([a-z]+)_dep\b", text)) | programs.get(room, set())
            tables = {owner for (reader, _), owner in TABLES.items() if reader == room}
            for name in sorted((named & rooms) - {room} - set(allowed) - tables):
                self.say(where, 1, "room %s may not depend on room %s" % (room, name))
            for name, path in sorted(self.used.get(folder, {}).items()):
                if name != room and name in rooms and name not in named:
                    self.say(where, 1, "%s includes from room %s, which is not named here" % (path, name))

    def programs(self):
        """{room: the rooms that its program names} of daemon/meson.build."""
        text = "\n".join(self.texts.get("daemon/meson.build", []))
        found = {}
        for name, rest in re.findall(r"executable\('saphan-?([a-z]+)',(.*?)\)$", text, re.S | re.M):
            room = "warden" if name == "d" else name
            found.setdefault(room, set()).update(re.findall(r"\b([a-z]+)_dep\b", rest))
        return found

    def run(self):
        self.top()
        self.names()
        self.sources()
        self.meson()
        return self.found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    check = Check(root)
    found = check.run()
    print("\n".join(found) if found else "%d files: nothing to say" % len(check.files))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
