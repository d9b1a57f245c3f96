#!/usr/bin/env python3
"""door.py [ROUNDS] - the door against tinyproxy, squid and sandbox-runtime's proxy, side by side.

    sudo SRT=FOLDER tests/bench/door.py

FOLDER is where `npm install @anthropic-ai/sandbox-runtime` was run; without it that arm is left out, as are
those whose program is missing.  All of it runs in a network namespace of its own, where 11.22.33.44 is the
server.  Interleaved rounds and medians; prints figures and asserts nothing: compare the ratios of one run.
"""
import json
import os
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.realpath(__file__)
TESTS = os.path.dirname(os.path.dirname(HERE))
SERVER = os.environ.get("SERVER", "11.22.33.44")
BULK, SMALL = 9000, 9001
ONE_BYTES, MANY, MANY_BYTES = 1 << 30, 200, 4 << 20
REQUESTS = 300
HELD = 200


# ---- the server ----

def serve_bulk():
    """Whoever asks for N bytes ("N\\n") gets them, as fast as the kernel can."""
    store = os.memfd_create("bulk")
    os.truncate(store, 8 << 20)

    def one(client):
        with client:
            while True:
                asked = client.recv(64)
                if not asked:
                    return
                left = int(asked)
                while left > 0:
                    left -= os.sendfile(client.fileno(), store, 0, min(left, 8 << 20))

    accept_all(BULK, one)


def serve_small():
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"

    def one(client):
        with client:
            if client.recv(4096):
                client.sendall(answer)

    accept_all(SMALL, one)


def accept_all(port, one):
    listener = socket.create_server((SERVER, port), backlog=1024)
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=one, args=(client,), daemon=True).start()


# ---- the client: in the leg for the door, outside for the others ----

def connect(port):
    """A tunnel to the bulk server; port 0: without a proxy."""
    sock = socket.create_connection((SERVER, BULK) if port == 0 else ("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if port:
        sock.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % ((SERVER.encode(), BULK) * 2))
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = sock.recv(4096)
            if not part:
                sys.exit("no tunnel: %r" % answer)
            answer += part
        if b" 200 " not in answer.split(b"\r\n")[0]:
            sys.exit("no tunnel: %r" % answer)
    return sock


def one_stream(port):
    buffer = bytearray(1 << 20)
    sock = connect(port)
    begin = time.perf_counter()
    sock.sendall(b"%d\n" % ONE_BYTES)
    left = ONE_BYTES
    while left > 0:
        n = sock.recv_into(buffer)
        if n == 0:
            sys.exit("cut off")
        left -= n
    return ONE_BYTES / (time.perf_counter() - begin) / 1e6


def many_streams(port):
    buffer = bytearray(1 << 20)
    waiting = selectors.DefaultSelector()
    left = {}
    for _ in range(MANY):
        sock = connect(port)
        sock.setblocking(False)
        waiting.register(sock, selectors.EVENT_READ)
        left[sock] = MANY_BYTES
    begin = time.perf_counter()
    for sock in list(left):
        sock.sendall(b"%d\n" % MANY_BYTES)
    while left:
        for key, _ in waiting.select():
            sock = key.fileobj
            n = sock.recv_into(buffer)
            if n == 0:
                sys.exit("cut off")
            left[sock] -= n
            if left[sock] == 0:
                del left[sock]
                waiting.unregister(sock)
    return MANY * MANY_BYTES / (time.perf_counter() - begin) / 1e6


def plain_requests(port):
    times = []
    target = b"http://%s:%d" % (SERVER.encode(), SMALL) if port else b""
    raw = b"GET %s/ HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n" % (target, SERVER.encode(), SMALL)
    for _ in range(REQUESTS):
        begin = time.perf_counter()
        sock = socket.create_connection((SERVER, SMALL) if port == 0 else ("127.0.0.1", port))
        sock.sendall(raw)
        answer = b""
        while not answer.endswith(b"ok\n"):
            part = sock.recv(4096)
            if not part:
                sys.exit("no answer: %r" % answer)
            answer += part
        sock.close()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def tunnel_requests(port):
    times = []
    for _ in range(REQUESTS):
        begin = time.perf_counter()
        sock = connect(port)
        sock.sendall(b"1\n")
        sock.recv(1)
        sock.close()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def hold(port):
    held = []
    for _ in range(HELD):
        sock = connect(port)
        sock.sendall(b"65536\n")
        left = 65536
        while left > 0:
            left -= len(sock.recv(left))
        held.append(sock)
    print("held", flush=True)
    sys.stdin.read()
    return 0


TASKS = {"one": one_stream, "many": many_streams, "plain": plain_requests, "tunnel": tunnel_requests, "hold": hold}


# ---- the arms ----

def start_tinyproxy(folder):
    path = os.path.join(folder, "tinyproxy.conf")
    with open(path, "w") as conf:
        conf.write("Port 8888\nListen 127.0.0.1\nTimeout 600\nMaxClients 2000\nAllow 127.0.0.1\nLogLevel Critical\n"
                   "LogFile \"/dev/null\"\nDisableViaHeader Yes\n")
    return subprocess.Popen(["tinyproxy", "-d", "-c", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start_squid(folder):
    path = os.path.join(folder, "squid.conf")
    os.chmod(folder, 0o777)
    with open(path, "w") as conf:
        conf.write("http_port 127.0.0.1:8889\nhttp_access allow all\ncache deny all\naccess_log none\n"
                   "cache_log /dev/null\npid_filename none\ncoredump_dir %s\nshutdown_lifetime 0 seconds\n" % folder)
    return subprocess.Popen(["squid", "-N", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start_srt(folder):
    path = os.path.join(folder, "srt.mjs")
    module = os.path.join(os.environ["SRT"], "node_modules/@anthropic-ai/sandbox-runtime/dist/sandbox/http-proxy.js")
    with open(path, "w") as script:
        script.write("import { createHttpProxyServer } from %s;\n"
                     "createHttpProxyServer({ filter: () => true }).listen(8890, '127.0.0.1');\n" % json.dumps(module))
    return subprocess.Popen(["node", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Others:
    def __init__(self, name, port, start, folder):
        self.name, self.port = name, port
        self.process = start(folder) if start else None
        while start:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if self.process.poll() is not None:
                    sys.exit("%s does not start" % name)
                time.sleep(0.05)

    def command(self, task):
        return [sys.executable, HERE, "--task", task, str(self.port)]

    def pids(self):
        return [self.process.pid]

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class InLeg:
    """The same requests without a proxy, in a leg whose network is the host's: what a leg itself costs."""
    name, port, net = "in a leg", 0, ["--net", "host"]

    def command(self, task):
        return ["saphan", "run", *self.net, "--stdin", "inherit", "--read", os.path.dirname(HERE), "--limit", "files=4096",
                "--env", "SERVER=" + SERVER, "--", "/usr/bin/python3", HERE, "--task", task, str(self.port)]

    def stop(self):
        pass


class Door(InLeg):
    name, port = "door", 3128
    net = ["--net", "door", "--allow", "%s:%d" % (SERVER, BULK), "--allow", "%s:%d" % (SERVER, SMALL)]

    def pids(self):
        out = subprocess.run(["pgrep", "-P", os.environ["SAPHAN_DAEMON_PID"], "-x", "saphan-door"], capture_output=True, text=True, check=False).stdout
        # The one that serves has the most descriptors.
        return [max(map(int, out.split()), key=lambda pid: len(os.listdir("/proc/%d/fd" % pid)))]


def pss(pids):
    total = 0
    for pid in pids:
        with open("/proc/%d/smaps_rollup" % pid) as rollup:
            total += sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    return total


def run(arm, task):
    done = subprocess.run(arm.command(task), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        sys.exit("%s %s: %s%s" % (arm.name, task, done.stdout, done.stderr))
    return float(done.stdout.split()[-1])


def memory(arm):
    """KiB a connection: what HELD idle tunnels cost the proxy."""
    before = pss(arm.pids()) if not isinstance(arm, Door) else None
    process = subprocess.Popen(arm.command("hold"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE)
    if process.stdout.readline().strip() != "held":
        sys.exit("%s hold: %s" % (arm.name, process.stderr.read()))
    pids = arm.pids()
    with_them = pss(pids)
    if before is None: # a leg's door is its own: one that serves nothing yet is what stands ready
        out = subprocess.run(["pgrep", "-x", "saphan-door"], capture_output=True, text=True, check=False).stdout
        before = min(pss([pid]) for pid in map(int, out.split()) if pid not in pids)
    process.stdin.close()
    process.wait()
    return before, (with_them - before) / HELD


def spawn(net):
    begin = time.perf_counter()
    subprocess.run(["saphan", "run", "--net", net, "--", "/bin/true"], check=True, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def measure(arms, rounds):
    units = {"one": "MB/s, one stream of 1 GiB", "many": "MB/s, %d streams of 4 MiB" % MANY,
             "plain": "us a plain HTTP request on a new connection", "tunnel": "us a CONNECT and one byte"}
    for task, unit in units.items():
        got = {arm.name: [] for arm in arms}
        for number in range(rounds):
            for arm in arms[number % len(arms):] + arms[:number % len(arms)]:
                got[arm.name].append(run(arm, task))
        print("%s:" % unit)
        for arm in arms:
            middle = statistics.median(got[arm.name])
            beside = "in a leg" if arm.name == "door" else "direct" # in a leg each system call passes its filters
            added = statistics.median(one - other for one, other in zip(got[arm.name], got[beside]))
            added = "" if task in ("one", "many") or arm.port == 0 else "   (%+.0f to `%s` of the same round)" % (added, beside)
            print("    %-12s %10.0f   from %.0f to %.0f%s" % (
                arm.name, middle, min(got[arm.name]), max(got[arm.name]), added), flush=True)


def keep_ports_free():
    """Of this namespace: some 10,000 connections a minute to one port, whose own ports wait a minute after their
    end, leave the kernel to search for a free one; a connect of any arm then takes 2 ms."""
    for name, value in (("tcp_tw_reuse", "1"), ("ip_local_port_range", "10000 65000")):
        with open("/proc/sys/net/ipv4/" + name, "w") as setting:
            setting.write(value)


def main(rounds):
    keep_ports_free()
    folder = tempfile.mkdtemp(prefix="saphan-door-bench.")
    os.chmod(folder, 0o755)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "address", "add", SERVER + "/32", "dev", "lo"], check=True)
    servers = [subprocess.Popen([sys.executable, HERE, "--serve", what]) for what in ("bulk", "small")]
    arms = [Others("direct", 0, None, folder), InLeg(), Door()]
    try:
        time.sleep(0.5)
        if shutil.which("tinyproxy"):
            arms.append(Others("tinyproxy", 8888, start_tinyproxy, folder))
        if shutil.which("squid"):
            arms.append(Others("squid", 8889, start_squid, folder))
        if os.environ.get("SRT"):
            arms.append(Others("srt", 8890, start_srt, folder))
        measure(arms, rounds)
        print("memory, KiB PSS: at rest, and a connection (of %d, idle):" % HELD)
        for arm in arms[2:]:
            rest, each = memory(arm)
            print("    %-12s %10.0f %10.1f" % (arm.name, rest, each), flush=True)
        times = {"none": [], "door": []}
        for _ in range(60):
            for net in times:
                times[net].append(spawn(net))
                time.sleep(0.03)
        print("ms of `saphan run -- /bin/true`: net none %.2f, net door %.2f: %+.2f" % (
            statistics.median(times["none"]), statistics.median(times["door"]),
            statistics.median(times["door"]) - statistics.median(times["none"])))
    finally:
        for arm in arms:
            arm.stop()
        for server in servers:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def begin():
    """As root, in a namespace of its own, beside a saphand whose policy lets doors be asked for; /tmp and
    /dev/shm are its own too, for the other proxies leave things there."""
    if not os.environ.get("DOOR_WORLD"):
        os.environ["DOOR_WORLD"] = "1"
        keep = ["--keep", os.environ["SRT"]] if os.environ.get("SRT") else []
        os.execv(os.path.join(TESTS, "own-tmp"),
                 ["own-tmp"] + keep + ["unshare", "-n", "--", sys.executable, HERE] + sys.argv[1:])
    if not os.environ.get("SAPHAN_DAEMON_PID"):
        policy = tempfile.NamedTemporaryFile("w", prefix="door-bench.", suffix=".policy", delete=False)
        policy.write("[allow bench]\nUser=root\nBoundary=domain\nView=minimal\nNet=none door host\nHost=*:*\nVendor=*\n"
                     "Read=/\nWrite=/\n")
        policy.close()
        os.chmod(policy.name, 0o644)
        os.execv(os.path.join(TESTS, "with-saphand"),
                 ["with-saphand", "--as", "root", "--policy", policy.name, sys.executable, HERE] + sys.argv[1:])
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        print(TASKS[sys.argv[2]](int(sys.argv[3])))
    elif sys.argv[1:2] == ["--serve"]:
        serve_bulk() if sys.argv[2] == "bulk" else serve_small()
    else:
        begin()
