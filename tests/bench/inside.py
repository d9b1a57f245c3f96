#!/usr/bin/env python3
"""inside.py [ROUNDS] - what the boundary costs a program that is already inside, beside tests/with-saphand:

    sudo tests/with-saphand tests/bench/inside.py

`git status` on a tree of 20,000 files and the build of a C program, each round once outside and once
inside a leg, by turns; the time is taken by the program that does it, so the leg's start is not in it.
And the cost of one call that is told and refused, beside one that is let through.  Prints medians and
paired ratios, of cpu time too, which a busy machine disturbs less; asserts nothing: compare the ratios
of one run, not numbers of two.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

FILES, SOURCES, CALLS = 20000, 24, 20000
TIMED = """
import os, subprocess, sys, time
begin = time.perf_counter()
for command in sys.argv[2:]:
    subprocess.run(command, shell=True, check=True, cwd=sys.argv[1], stdout=subprocess.DEVNULL)
spent = os.times()
print(time.perf_counter() - begin, spent.children_user + spent.children_system)
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


def pairs(name, rounds, outside, inside):
    times, spent = [[], []], [[], []]
    for number in range(rounds + 1):
        for arm in ((0, 1), (1, 0))[number % 2]:
            took, cpu = run((outside, inside)[arm])[:2]
            if number > 0:  # the first round warms the caches
                times[arm].append(took)
                spent[arm].append(cpu)
    ratios = [inside / outside for outside, inside in zip(*times)]
    cpus = [inside / outside for outside, inside in zip(*spent)]
    print("%-28s outside %8.1f ms   inside %8.1f ms   paired ratio %.3f   of cpu time %.3f" % (
        name, statistics.median(times[0]) * 1000, statistics.median(times[1]) * 1000, statistics.median(ratios), statistics.median(cpus)))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    top = tempfile.mkdtemp(prefix="saphan-bench.", dir=os.environ.get("E2E_BASE", "/var/tmp"))
    try:
        tree, build = make(top)
        timed = ["/usr/bin/python3", "-I", os.path.join(top, "timed.py")]
        leg = ["saphan", "run", "--read", top]
        status = ["git status --porcelain"] * 3
        compile_all = ["for s in s*.c; do cc -O1 -c $s || exit 1; done; cc -shared -o all.so *.o"]
        pairs("git status, %d files, x3" % FILES, rounds, timed + [tree] + status,
              leg + ["--write", tree, "--"] + timed + [tree] + status)
        pairs("cc of %d files" % SOURCES, rounds, timed + [build] + compile_all,
              leg + ["--write", build, "--"] + timed + [build] + compile_all)
        call = os.path.join(top, "call")
        plain = statistics.median(run([call, str(CALLS)])[0] for _ in range(rounds))
        inside, told = (statistics.median(values) for values in zip(
            *(run(leg + ["--", call, str(CALLS), "told"]) for _ in range(rounds))))
        print("%-28s outside %8.3f us   inside %8.3f us   told and refused %.3f us" % (
            "one call", plain, inside, told))
    finally:
        shutil.rmtree(top)


main()
