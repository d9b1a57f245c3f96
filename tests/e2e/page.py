#!/usr/bin/env python3
"""page.py cells | page.py check PAGE - for page.sh.

cells: from one exported cell on standard input, cells of every verdict for another saphand to import, what
they say being as bad as a leg could make it.  check: a report's structure, as TAP lines without numbers."""
import hashlib
import html.parser
import json
import re
import sys

HOSTILE = "</pre></td><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"
LONG = "CLONE_NEWUSER|" * 20
VOID = {"meta", "br", "hr", "img", "link", "input"}


def cells():
    line = json.loads(sys.stdin.readline())
    for number, (vendor, verdict, silent) in enumerate((
            ("codex", "COLLIDES", True), ("droid", "COLLIDES", False), ("gemini-cli", "HANGS", False),
            ("claude-code", "INDETERMINATE", False), ("opencode", "NESTS", False))):
        for boundary in ("domain", "container"):
            for sandbox in ("on", "off"):
                if number and boundary == "container" and sandbox == "on":
                    continue
                cell = json.loads(json.dumps(line["cell"]))
                cell.update(vendor=vendor, verdict=verdict, silent=silent, boundary=boundary, sandbox=sandbox,
                            vendor_version="1." + "0" * 60, why=HOSTILE + LONG, falsify="saphan " + HOSTILE + LONG)
                for arm in cell["arms"]:
                    arm.update(output=HOSTILE + LONG, detail=HOSTILE, events=LONG)
                whole = {"cell": cell, "origin": "otherhost"}
                text = json.dumps(whole, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
                print(json.dumps({"schema": line["schema"], "origin": "otherhost", "cell": cell,
                                  "sha256": hashlib.sha256(text.encode()).hexdigest()}))


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.links, self.ids, self.tags, self.attributes = [], [], [], {}, {}, []
        self.grid, self.row, self.text, self.style = [], None, "", ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += [(tag, name) for name in attrs]
        if tag not in VOID:
            self.open.append((tag, attrs.get("class", "")))
        if tag == "a":
            self.links.append(attrs.get("href", ""))
        if "id" in attrs:
            self.ids[attrs["id"]] = [name for name, _ in self.open]
        if tag == "tr" and ("table", "grid") in self.open:
            self.row = []
        if tag in ("th", "td") and self.row is not None:
            self.row.append("")

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.wrong.append("%s within %s" % (tag, self.open[-1:]))
            return
        self.open.pop()
        if tag == "tr" and self.row is not None:
            self.grid.append(self.row)
            self.row = None

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1][0] == "style":
            self.style += data
        if self.row:
            self.row[-1] += data


def luminance(colour):
    colour = colour.lstrip("#")
    colour = "".join(c * 2 for c in colour) if len(colour) == 3 else colour
    parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrasts(style):
    """(the worst contrast of a text colour to its background, how many schemes)"""
    schemes = re.findall(r":root\{([^}]*)\}", style)
    worst, base = 99.0, {}
    for scheme in schemes:
        base = {**base, **dict(re.findall(r"--(\w+):(#\w+)", scheme))}
        for name in ("fg", "dim", "good", "bad", "warn", "blank"):
            for ground in ("bg", "card"):
                pair = sorted((luminance(base[name]), luminance(base[ground])))
                worst = min(worst, (pair[1] + 0.05) / (pair[0] + 0.05))
    return worst, len(schemes)


def say(good, name, known=""):
    print("%s - %s%s" % ("ok" if good else "not ok", name, "" if good else ": %s" % (known,)))


def check(path):
    with open(path, encoding="utf-8") as file:
        page = Page()
        page.feed(file.read())
    say(not page.wrong and not page.open, "every element is closed where it was opened", page.wrong[:3] or page.open)
    say(not {"script", "img", "link", "iframe", "object"} & set(page.tags), "nothing is run, nothing is fetched", page.tags)
    say(not [pair for pair in page.attributes if pair[1].startswith("on") or pair[1] == "src"], "no attribute runs or fetches")
    say(all(link.startswith("#") for link in page.links), "every link stays on the page", page.links)
    say(page.links and all(link[1:] in page.ids for link in page.links), "and leads somewhere", page.links)
    say(all("details" in page.ids[link[1:]] for link in page.links), "into what opens by following it", page.ids)
    say("<script>alert(1)</script>" in page.text, "what a leg wrote is text")
    worst, schemes = contrasts(page.style)
    say(schemes == 3 and worst >= 4.5, "light, dark and print can be read: contrast at least 4.5", (worst, schemes))
    rows = {row[0]: row[1:] for row in page.grid if len(row) == 5}
    say(rows.get("codex") == ["COLLIDES SILENTLY (stale)"] * 4, "the matrix has a square for boundary and sandbox", rows)
    say(rows.get("droid", [])[3:] == ["BLANK"] and rows.get("copilot") == ["BLANK"] * 4, "what nobody looked at is BLANK", rows)
    say(rows.get("proc") == ["NESTS", "has none", "BLANK", "has none"], "a vendor without a sandbox has none", rows)
    say("nobody looked; that is not \"no\"" in page.text, "and what a blank means is said")
    for words in ("COLLIDES SILENTLY", "HANGS", "INDETERMINATE", "otherhost", "never admits", "landlock", "remedy",
                  "shown wrong by", "What this cannot say"):
        say(words in page.text, "it says: " + words)


if __name__ == "__main__":
    cells() if sys.argv[1] == "cells" else check(sys.argv[2])
