#!/bin/bash
# imageraces.sh - adding an image while others do, and while somebody is killed.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

make_image=$TESTS/e2e/make_image.py
root=$T/root
mkdir -p "$root"/{bin,etc,data,many}
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat true sleep; do ln -s busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\nbob:x:1234:77:bob:/data:/bin/sh\n' >"$root/etc/passwd"
printf 'bobs:x:77:\n' >"$root/etc/group"
(cd "$root/many" && for i in $(seq 3000); do echo "$i" >"$i"; done)
"$make_image" good "$T/good" "$root" && owned "$T/good"
state=$(dirname "$SAPHAN_SOCKET")/state
image() { as_user timeout 100 saphan image "$@" </dev/null; }

# ---- two of one name ----
for i in 1 2 3; do image add same "$T/good" >"$T/add.$i" 2>&1 & done
wait
equal "three adds of one image at once all succeed" 3 "$(grep -c ^digest "$T"/add.* | awk -F: '$2 == 1' | wc -l)"
equal "and are one" "1 4" "$(image list --json | jq -r .layers | wc -l) $(find "$state/images/layers" -mindepth 1 -maxdepth 1 | wc -l)"
for i in 1 2 3; do image add "other$i" "$T/good" >"$T/add.$i" 2>&1 & done
wait
equal "and of three names share every layer" 4 "$(find "$state/images/layers" -mindepth 1 -maxdepth 1 | wc -l)"

# ---- a leg keeps what it runs in ----
(cd "$W" && as_user timeout 60 saphan run --boundary container --image same -- sh -c 'echo up; sleep 4; ls /many | wc -l; cat /data/kept' </dev/null >"$T/leg" 2>"$T/leg.err") &
for _ in $(seq 100); do grep -q up "$T/leg" && break; sleep 0.05; done
for name in same other1 other2 other3; do image rm "$name"; done
equal "no name is left" "" "$(image list --json)"
check "its layers stay while it runs" test "$(find "$state/images/layers" -mindepth 1 -maxdepth 1 | wc -l)" = 4
wait
equal "it saw all of its files to the end" "kept" "$(tail -n 1 "$T/leg")"
image gc
for _ in $(seq 100); do [ -z "$(ls "$state/images/layers" "$state/images/staging" | grep -v : | grep .)" ] && break; sleep 0.1; done
equal "and gc takes them" "" "$(ls "$state/images/layers" "$state/images/staging" | grep -v : | grep .)"

# ---- kills ----
cat >"$T/kill.py" <<'PY'
"""Kills saphand, or the client, or the unpacker at moments of chance of an add; then starts it again."""
import os, random, signal, subprocess, sys, time
build, folder, good = sys.argv[1:4]
random.seed(7)
socket, state = folder + "/saphan.sock", folder + "/state"
env = dict(os.environ, SAPHAN_SOCKET=socket)
saphan = [build + "/client/saphan", "image"]
open(folder + "/p.policy", "w").write("[allow a]\nUser=root\nBoundary=container\nImage=*\nImage-Add=yes\nRead=/\nWrite=/srv\nVendor=*\n")

def start():
    r, w = os.pipe()
    daemon = subprocess.Popen([build + "/daemon/saphand", "--private", folder, "--policy", folder + "/p.policy",
                               "--custodian", str(os.stat(build).st_uid), "--libexec", build + "/daemon",
                               "--ready-fd", str(w)],
                              pass_fds=[w], stderr=open(folder + "/log", "a"))
    os.close(w)
    assert os.read(r, 6) == b"ready\n", open(folder + "/log").read()
    os.close(r)
    return daemon

def unpackers(pid):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and open(f"/proc/{name}/comm").read().strip() == "saphan-unpacker" and \
                    int(open(f"/proc/{name}/stat").read().split()[3]) == pid:
                found.append(int(name))
        except (OSError, ValueError, IndexError):
            pass
    return found

def names(folder):
    return sorted(os.listdir(folder))

def swept():
    for _ in range(300):
        if not names(state + "/images/staging"):
            return True
        time.sleep(0.05)
    return False

bad = 0
daemon = start()
begin = time.monotonic()
subprocess.run(saphan + ["add", "one", good], env=env, check=True, stdout=subprocess.DEVNULL)
whole = time.monotonic() - begin
subprocess.run(saphan + ["rm", "one"], env=env, check=True)
for turn in range(int(sys.argv[4])):
    client = subprocess.Popen(saphan + ["add", "one", good], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, whole * 1.1))
    victim = ("daemon", "client", "unpacker")[turn % 3]
    if victim == "daemon":
        daemon.kill()
        daemon.wait()
    elif victim == "client":
        client.kill()
    else:
        for pid in unpackers(daemon.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    client.wait()
    if victim == "daemon":
        daemon = start()
    listed = subprocess.run(saphan + ["list", "--json"], env=env, capture_output=True, text=True).stdout
    if not swept():
        bad += 1
        print(turn, victim, "staging:", names(state + "/images/staging"))
    layers = names(state + "/images/layers")
    if ("one" in listed) != (len(layers) == 4) or len(layers) not in (0, 4):
        bad += 1
        print(turn, victim, "listed:", listed[:60], "layers:", layers)
    if listed and subprocess.run([saphan[0], "run", "--boundary", "container", "--image", "one", "--", "cat", "/data/kept"],
                                 env=env, capture_output=True).stdout != b"kept\n":
        bad += 1
        print(turn, victim, "what is listed does not run")
    if listed:
        subprocess.run(saphan + ["rm", "one"], env=env, check=True)
        swept()
daemon.kill()
daemon.wait()
os.mkdir(state + "/images/staging/add-7777", 0o700)  # made, and not given away yet
daemon = start()
if not swept():
    bad += 1
    print("staging:", names(state + "/images/staging"))
daemon.terminate()
daemon.wait()
sys.exit(1 if bad else 0)
PY
mkdir "$T/private"
check "kills of saphand, client and unpacker at ${KILLS:=30} moments leave all or nothing" \
    env -u SAPHAN_SOCKET timeout 300 python3 "$T/kill.py" "$SAPHAN_BUILD" "$T/private" "$T/good" "$KILLS"
finish
