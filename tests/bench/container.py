#!/usr/bin/env python3
"""container.py [ROUNDS] - containers side by side, beside tests/with-saphand, as root:

    sudo tests/with-saphand --as root tests/bench/container.py

Interleaved pairs and medians of a container leg that runs /bin/true and of `runc run` and `crun run` of
the same root; then an image of some 300 MB in four layers added, against `skopeo copy` and
`umoci unpack` of it.  Prints figures and asserts nothing: compare the ratios of one run.
"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

BUSYBOX = shutil.which("busybox")


def userland(root):
    for name in ("bin", "etc", "proc", "dev", "sys", "tmp"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(BUSYBOX, os.path.join(root, "bin", "busybox"))
    for name in ("sh", "true"):
        os.symlink("busybox", os.path.join(root, "bin", name))


def bundle(folder, root):
    os.mkdir(folder)
    subprocess.run(["runc", "spec"], cwd=folder, check=True)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    config["process"].update(terminal=False, args=["/bin/true"])
    config["root"] = {"path": root, "readonly": True}
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)


def once(command, cwd=None):
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    took = time.perf_counter() - begin
    if done.returncode:
        sys.exit("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr.decode()[-500:]))
    return took


def starts(folder, rounds):
    root = os.path.join(folder, "root")
    userland(root)
    once(["saphan", "image", "add", "bench", root])
    arms = {"saphan": lambda i: (["saphan", "run", "--boundary", "container", "--image", "bench", "--", "/bin/true"], None)}
    for name in ("runc", "crun"):
        if shutil.which(name):
            bundle(os.path.join(folder, name), root)
            arms[name] = lambda i, name=name: ([name, "run", "bench-%s-%d" % (name, i)], os.path.join(folder, name))
    times = {name: [] for name in arms}
    for i in range(rounds + 5):
        for name, make in arms.items():
            command, cwd = make(i)
            try:
                took = once(command, cwd)
            except SystemExit as error:
                if i == 0:
                    print("%s cannot run here: %s" % (name, str(error)[:200]))
                    arms = {other: arms[other] for other in arms if other != name}
                    times.pop(name)
                    break
                raise
            if i >= 5:
                times[name].append(took)
    for name, values in times.items():
        print("%-7s median %6.2f ms of %d" % (name, statistics.median(values) * 1000, len(values)))
        if name != "saphan" and values:
            print("saphan / %s: %.2f in the median pair" % (
                name, statistics.median(a / b for a, b in zip(times["saphan"], values))))


def big_image(folder):
    """Four layers of 75 MB that squeeze to half, as an OCI layout made by umoci from tar files."""
    random.seed(1)
    layout = os.path.join(folder, "big")
    once(["umoci", "init", "--layout", layout])
    once(["umoci", "new", "--image", layout + ":big"])
    words = [random.randbytes(64) for _ in range(4096)]
    for number in range(4):
        tar = os.path.join(folder, "layer.tar")
        with tarfile.open(tar, "w") as out:
            for i in range(750):
                path = os.path.join(folder, "file")
                with open(path, "wb") as file:
                    for _ in range(800):
                        file.write(random.choice(words) + bytes(64))
                out.add(path, "usr/share/%d/%d" % (number, i))
        once(["umoci", "raw", "add-layer", "--image", layout + ":big", tar])
    return layout


def adds(folder, rounds):
    layout = big_image(folder)
    size = sum(os.path.getsize(os.path.join(layout, "blobs", "sha256", name))
               for name in os.listdir(os.path.join(layout, "blobs", "sha256")))
    ours, theirs = [], []
    for i in range(rounds):
        ours.append(once(["saphan", "image", "add", "big", layout]))
        once(["saphan", "image", "rm", "big"])
        copy, unpacked = os.path.join(folder, "copy"), os.path.join(folder, "unpacked")
        begin = once(["skopeo", "--insecure-policy", "copy", "oci:%s:big" % layout, "oci:%s:big" % copy])
        theirs.append(begin + once(["umoci", "unpack", "--image", copy + ":big", unpacked]))
        shutil.rmtree(copy)
        shutil.rmtree(unpacked)
        time.sleep(2)  # what was removed is emptied
    print("image add, %d MB stored: saphan median %.2f s; skopeo copy + umoci unpack %.2f s; %.2f in the median pair" % (
        size >> 20, statistics.median(ours), statistics.median(theirs),
        statistics.median(a / b for a, b in zip(ours, theirs))))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    folder = tempfile.mkdtemp(prefix="saphan-bench.", dir="/var/tmp")
    try:
        starts(folder, rounds)
        if shutil.which("umoci") and shutil.which("skopeo"):
            adds(folder, 3)
    finally:
        shutil.rmtree(folder)


main()
