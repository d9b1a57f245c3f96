#!/usr/bin/env python3
"""inside.py [ROUNDS] - what the boundary costs a program that is already inside, beside tests/with-saphand:

    sudo tests/with-saphand tests/bench/inside.py

`git status` on a tree of 20,000 files and the build of a C program, each round once outside, once inside a
leg and once more outside, by turns; one leg stands for all rounds, and the time is taken by the program
in it.  The second arm outside is the control: what its ratio is off 1 is what this machine disturbs.
And the cost of one call that is told and refused, beside one that is let through.  Prints medians and
paired ratios, of cpu time too, which a busy machine disturbs less; asserts nothing: compare the ratios
of one run, not numbers of two.

Where others use the machine, wall times say who shares its processors with whom (the scheduler's
groups: each session is one, and so is each leg), not what the boundary costs.  With

    sudo chrt -r 5 tests/with-saphand tests/bench/inside.py

no arm waits for another's program.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

FILES, SOURCES, CALLS = 20000, 24, 20000
TIMED = """
import resource, subprocess, sys, time
def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
for line in sys.stdin:
    begin, before = time.perf_counter(), spent()
    subprocess.run(sys.argv[2], shell=True, check=True, cwd=sys.argv[1], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    print(time.perf_counter() - begin, spent() - before, flush=True)
"""
CALL = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}
int main(int argc, char **argv)
{
    long calls = atol(argv[1]);
    double begin = now();
    for (long i = 0; i < calls; i++)
        syscall(SYS_getppid);
    double plain = now();
    for (long i = 0; argc > 2 && i < calls; i++)
        unshare(CLONE_NEWUSER);
    printf("%f %f\n", (plain - begin) / (double)calls, (now() - plain) / (double)calls);
    return 0;
}
"""


def make(top):
    tree = os.path.join(top, "tree")
    for number in range(FILES):
        folder = os.path.join(tree, "d%d" % (number // 100))
        if number % 100 == 0:
            os.makedirs(folder)
        with open(os.path.join(folder, "f%d" % number), "w") as file:
            file.write("%d\n" % number)
    git = ["git", "-C", tree, "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run(git + words, check=True)
    build = os.path.join(top, "build")
    os.makedirs(build)
    for number in range(SOURCES):
        with open(os.path.join(build, "s%d.c" % number), "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
            for function in range(40):
                file.write("int f%d_%d(int x) { char b[64]; snprintf(b, sizeof(b), \"%%d\", x); "
                           "return (int)strlen(b) + atoi(b); }\n" % (number, function))
    with open(os.path.join(top, "call.c"), "w") as file:
        file.write(CALL)
    subprocess.run(["cc", "-O1", "-o", os.path.join(top, "call"), os.path.join(top, "call.c")], check=True)
    with open(os.path.join(top, "timed.py"), "w") as file:
        file.write(TIMED)
    return tree, build


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not done.stdout:
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return [float(word) for word in done.stdout.split()]


class Arm:
    """A program that does its command once for each line it is sent."""

    def __init__(self, command):
        self.times, self.spent = [], []
        # In a session of its own, as a leg is: the scheduler shares the processors out by sessions.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)

    def turn(self):
        self.process.stdin.write("once\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if not words:
            sys.exit("%s: ended" % " ".join(self.process.args))
        return [float(word) for word in words]

    def round(self):
        took, cpu = self.turn()
        self.times.append(took)
        self.spent.append(cpu)

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("%s: status %d" % (" ".join(self.process.args), self.process.returncode))


def paired(arm, control):
    return "%.3f   of cpu time %.3f" % tuple(
        statistics.median(a / b for a, b in zip(*both))
        for both in ((arm.times, control.times), (arm.spent, control.spent)))


def pairs(name, rounds, outside, inside):
    arms = [Arm(command) for command in (outside, inside, outside)]
    for arm in arms:
        arm.turn()  # warms the caches
    for number in range(rounds):
        for arm in arms if number % 2 else reversed(arms):
            arm.round()
    for arm in arms:
        arm.end()
    print("%-28s outside %8.1f ms   inside %8.1f ms   paired ratio %s" % (
        name, *(statistics.median(arm.times) * 1000 for arm in arms[:2]), paired(arms[1], arms[0])))
    print("%-28s outside %8.1f ms   again  %8.1f ms   paired ratio %s" % (
        "", *(statistics.median(arm.times) * 1000 for arm in arms[::2]), paired(arms[2], arms[0])))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    top = tempfile.mkdtemp(prefix="saphan-bench.", dir=os.environ.get("E2E_BASE", "/var/tmp"))
    try:
        tree, build = make(top)
        timed = ["/usr/bin/python3", "-I", os.path.join(top, "timed.py")]
        leg = ["saphan", "run", "--read", top]
        arm = leg + ["--stdin", "inherit"]
        status = "git status --porcelain"
        compile_all = "for s in s*.c; do cc -O1 -c $s || exit 1; done; cc -shared -o all.so *.o"
        pairs("git status, %d files" % FILES, rounds * 10, timed + [tree, status],
              arm + ["--write", tree, "--"] + timed + [tree, status])
        pairs("cc of %d files" % SOURCES, rounds, timed + [build, compile_all],
              arm + ["--write", build, "--"] + timed + [build, compile_all])
        call = os.path.join(top, "call")
        plain = statistics.median(run([call, str(CALLS)])[0] for _ in range(rounds))
        inside, told = (statistics.median(values) for values in zip(
            *(run(leg + ["--", call, str(CALLS), "told"]) for _ in range(rounds))))
        print("%-28s outside %8.3f us   inside %8.3f us   told and refused %.3f us" % (
            "one call", plain, inside, told))
    finally:
        shutil.rmtree(top)


main()
