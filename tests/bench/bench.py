#!/usr/bin/env python3
"""bench.py [ROUNDS] - whole-process wall times, side by side, beside tests/with-saphand:

    sudo tests/with-saphand tests/bench/bench.py

Interleaved pairs and medians of `saphan run`, bwrap and a plain spawn; legs per second at eight
clients, those that start the program `saphan` for each leg and those that ask through libsaphan, as an
engine does; memory of the daemon and of a sleeping leg.  Prints figures and asserts nothing: compare the
ratios of one run, not numbers of two.  Where others use the machine, `sudo chrt -r 5` before it lets no arm
wait for another's program.
"""
import os
import statistics
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BWRAP = ("bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent "
         "/bin/true").split()
SAPHAN = "saphan run -- /bin/true".split()
PLAIN = ["/bin/true"]
NULL = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]


def which(name):
    for folder in os.environ["PATH"].split(":"):
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    return None


def once(path, command):
    """Microseconds from before the spawn to after the wait."""
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(path, command, os.environ, file_actions=NULL)
    _, status = os.waitpid(pid, 0)
    took = (time.perf_counter_ns() - begin) / 1000
    if status != 0:
        sys.exit("%s: status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
    return took


def paired(arms, rounds):
    times = {name: [] for name, _, _ in arms}
    for name, path, command in arms:
        for _ in range(10):
            once(path, command)
    for number in range(rounds):
        for name, path, command in arms[number % len(arms):] + arms[:number % len(arms)]:
            times[name].append(once(path, command))
    return times


def rate(path, command, clients, seconds):
    """Runs a second with CLIENTS at once."""
    done = [0] * clients
    end = time.monotonic() + seconds

    def client(index):
        while time.monotonic() < end:
            pid = os.posix_spawn(path, command, os.environ, file_actions=NULL)
            if os.waitpid(pid, 0)[1] == 0:
                done[index] += 1

    begin = time.monotonic()
    threads = [threading.Thread(target=client, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begin)


def library_rate(clients, seconds):
    program = os.path.join(os.environ.get("SAPHAN_BUILD", os.path.join(TOP, "build")), "tests/bench/bench-clients")
    return float(subprocess.run([program, str(clients), str(seconds)], check=True, text=True,
                                stdout=subprocess.PIPE).stdout)


def throughput(arms, clients=8, seconds=2, rounds=6):
    """By turns, so that what else the machine does falls on all alike."""
    rates = {}
    for _ in range(rounds):
        for name, path, command in arms:
            rates.setdefault(name, []).append(rate(path, command, clients, seconds))
        rates.setdefault("library", []).append(library_rate(clients, seconds))
    for name, values in rates.items():
        print("%-7s %5.0f a second at %d clients" % (name, statistics.median(values), clients))
    for name in ("saphan", "library") if "bwrap" in rates else ():
        print("%s / bwrap: %.2f in the median pair" % (
            name, statistics.median(a / b for a, b in zip(rates[name], rates["bwrap"]))))


def pss(pid):
    """KiB; of one that has ended meanwhile, 0."""
    try:
        with open("/proc/%d/smaps_rollup" % pid) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def processes():
    """{pid: (parent, name)} of all."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as stat:
                    text = stat.read()
            except OSError:
                continue
            found[int(name)] = (int(text.rpartition(")")[2].split()[1]), text[text.index("(") + 1:text.rindex(")")])
    return found


def below(root):
    everyone, wanted = processes(), [root]
    for pid in wanted:
        wanted += [child for child, (parent, _) in everyone.items() if parent == pid]
    return [(pid, everyone[pid][1]) for pid in wanted if pid in everyone]


def memory(daemon):
    if os.getuid() != 0:
        print("memory: only root may read it")
        return
    time.sleep(1)  # the last ones' helpers end
    idle = below(daemon)
    print("memory, PSS: idle saphand %d KiB, with its ready programs %d KiB (%d processes)" % (
        pss(daemon), sum(pss(pid) for pid, _ in idle), len(idle)))
    leg = subprocess.Popen(["saphan", "run", "--", "/bin/sleep", "30"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    now = below(daemon)
    print("memory, PSS: a sleeping leg adds %d KiB (its client: %d KiB)" % (
        sum(pss(pid) for pid, _ in now) - sum(pss(pid) for pid, _ in idle), pss(leg.pid)))
    leg.terminate()
    leg.wait()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    arms = [("saphan", which("saphan"), SAPHAN), ("plain", which("true"), PLAIN)]
    if which("bwrap"):
        arms.insert(1, ("bwrap", which("bwrap"), BWRAP))
    times = paired(arms, rounds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        quantiles = statistics.quantiles(values, n=10)
        print("%-7s median %6.2f ms   first tenth %6.2f   last tenth %6.2f   of %d" % (
            name, medians[name] / 1000, quantiles[0] / 1000, quantiles[8] / 1000, len(values)))
    if "bwrap" in medians:
        pairs = statistics.median(a / b for a, b in zip(times["saphan"], times["bwrap"]))
        print("saphan / bwrap: %.2f of the medians, %.2f in the median pair" % (
            medians["saphan"] / medians["bwrap"], pairs))
    throughput(arms[:-1])
    memory(int(os.environ["SAPHAN_DAEMON_PID"]))


main()
