#!/bin/bash
# What people really run: repositories, builds, event loops, workers, debuggers.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
WS=$T/ws
mkdir "$WS" && owned "$WS"
inside() { leg --workspace "$WS" "${@:2}" -- /bin/bash -ec "cd '$WS'; $1"; }

# A C program with a configure script of its own, in a local repository.
origin=$T/origin
mkdir -p "$origin/src"
cat >"$origin/configure" <<'SH'
#!/bin/sh
# Looks at the compiler as configure scripts do, and writes Makefile and config.h.
set -e
: "${CC:=cc}"
tmp=conftest$$
trap 'rm -f $tmp $tmp.c $tmp.o' EXIT
echo "checking whether $CC works"
echo 'int main(void) { return 0; }' >$tmp.c && $CC -o $tmp $tmp.c && ./$tmp
: >config.h
for header in stdio.h string.h pthread.h no-such-header.h; do
    printf '#include <%s>\nint x;\n' $header >$tmp.c
    name=$(echo $header | tr a-z.- A-Z__)
    if $CC -c -o $tmp.o $tmp.c 2>/dev/null; then echo "#define HAVE_$name 1" >>config.h; fi
done
for word in size_t long pid_t; do
    printf '#include <stdio.h>\n#include <sys/types.h>\nint main(void) { printf("%%d", (int)sizeof(%s)); return 0; }\n' $word >$tmp.c
    $CC -o $tmp $tmp.c && echo "#define SIZEOF_$(echo $word | tr a-z A-Z) $(./$tmp)" >>config.h
done
sed "s|@CC@|$CC|" Makefile.in >Makefile
SH
cat >"$origin/Makefile.in" <<'MK'
CC = @CC@
OBJECTS = src/main.o src/count.o src/join.o
all: program
program: $(OBJECTS)
	$(CC) -o $@ $(OBJECTS) -pthread
%.o: %.c config.h
	$(CC) -I. -Wall -O2 -c -o $@ $<
check: program
	./program | grep -q 'counted 400000 on 4 threads'
install: program
	mkdir -p $(DESTDIR)/bin && cp program $(DESTDIR)/bin/.program && mv $(DESTDIR)/bin/.program $(DESTDIR)/bin/program
MK
cat >"$origin/src/main.c" <<'C'
#include "config.h"
#include <stdio.h>
long count(int threads, long each);
int main(void)
{
#if defined HAVE_NO_SUCH_HEADER_H || !defined HAVE_PTHREAD_H
#error configure was wrong
#endif
    printf("counted %ld on 4 threads\n", count(4, 100000));
    return 0;
}
C
cat >"$origin/src/count.c" <<'C'
#include <pthread.h>
#include <stdatomic.h>
void join_all(pthread_t *threads, int n);
static atomic_long total;
static void *work(void *each)
{
    for (long i = 0; i < *(long *)each; i++)
        atomic_fetch_add(&total, 1);
    return 0;
}
long count(int n, long each)
{
    pthread_t threads[16];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], 0, work, &each);
    join_all(threads, n);
    return total;
}
C
printf '#include <pthread.h>\nvoid join_all(pthread_t *t, int n) { for (int i = 0; i < n; i++) pthread_join(t[i], 0); }\n' >"$origin/src/join.c"
chmod 755 "$origin/configure"
git -C "$T" init -q origin && git -C "$origin" add . && git -C "$origin" -c user.name=n -c user.email=e commit -qm 'a program'
owned "$origin"
leg --write "$WS" --read "$origin" --chdir "$WS" -- /bin/bash -ec "
    git -c safe.directory='*' clone -q '$origin' program
    cd program && ./configure && make -j4 && make check && make install DESTDIR='$WS/installed'"
expect "git clone, configure, make -j4, make check, make install" 0 GREEN
equal "what was built runs on the host" "counted 400000 on 4 threads" "$("$WS/installed/bin/program" 2>&1)"
equal "and is the user's" "$leg_uid" "$(stat -c %u "$WS/installed/bin/program" 2>&1)"

inside 'mkdir a b; echo x >a/f; mv a/f b/g; ln b/g a/h; mv a/h b/h; ln -s b/g link; cat link; cp -a b c; rm -r a; test "$(stat -c %h b/g)" = 2'
expect "rename and hard link across folders of the grant" 0 GREEN
inside 'flock lock true; truncate -s 1M big; fallocate -l 2M big || true; cp --reflink=auto big copy; chmod 600 big; touch -d 2001-01-01 big; mkfifo f; (echo through >f &) ; cat f; tar -cf t.tar b; tar -xf t.tar -C c; find . -name g | xargs -n1 sha256sum'
expect "locks, holes, times, FIFOs, archives" 0 GREEN

inside 'cat >loop.py <<"PY"
import asyncio, threading, subprocess, socket
async def main():
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    threading.Timer(0.05, lambda: loop.call_soon_threadsafe(done.set)).start()
    await asyncio.wait_for(done.wait(), 10)
    process = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    assert (await process.communicate())[0] == b"child\n"
    async def answer(reader, writer):
        writer.write(await reader.readline()); await writer.drain(); writer.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"loopback\n")
    assert await reader.readline() == b"loopback\n"
    a, b = socket.socketpair()
    a.sendall(b"pair"); assert b.recv(4) == b"pair"
    c, d = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    c.send(b"datagram"); assert d.recv(20) == b"datagram"
asyncio.run(main())
print("asyncio")
PY
python3 loop.py'
expect "asyncio: threads, children, loopback, socket pairs" 0 GREEN
for method in fork spawn forkserver; do
    inside "cat >pool.py <<'PY'
import multiprocessing, sys
def square(n):
    return n * n
if __name__ == '__main__':
    context = multiprocessing.get_context('$method')
    with context.Pool(3) as pool:
        assert pool.map(square, range(20)) == [n * n for n in range(20)]
    with context.Manager() as manager:
        assert list(manager.list([1, 2])) == [1, 2]
PY
timeout 50 python3 pool.py"
    expect "multiprocessing by $method" 0 GREEN
done
if command -v node >/dev/null; then
    inside 'cat >work.js <<"JS"
const { Worker, isMainThread, parentPort } = require("worker_threads");
const { execFileSync, fork, spawn } = require("child_process");
if (process.argv[2] === "child") { process.on("message", m => { process.send(m + 1); process.disconnect(); }); return; }
if (!isMainThread) { parentPort.postMessage(6 * 7); return; }
let left = 4;
const done = () => { if (--left === 0) console.log("node works"); };
new Worker(__filename).on("message", m => { if (m === 42) done(); });
const child = fork(__filename, ["child"]); child.send(1); child.on("message", m => { if (m === 2) done(); });
if (String(execFileSync("/bin/echo", ["sync"])) === "sync\n") done();
const server = require("http").createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", () =>
    fetch("http://127.0.0.1:" + server.address().port).then(r => r.text()).then(t => { if (t === "served") done(); server.close(); }));
JS
timeout 50 node work.js | grep -q "node works"'
    expect "node: worker threads, children, HTTP on loopback" 0 GREEN
else
    skip "node: worker threads, children, HTTP on loopback" "node is not installed"
fi
if command -v ssh >/dev/null; then
    leg -- /usr/bin/ssh -G example.invalid
    expect "ssh -G reads its configuration" 0 GREEN
    check_not "and finds no bad owner" grep -qai 'bad owner' "$T/out" "$T/err"
else
    skip "ssh -G" "ssh is not installed"
fi
traced=""
if command -v strace >/dev/null; then
    leg --write "$WS" --chdir "$WS" -- /usr/bin/strace -f -o trace /bin/sh -c '/bin/true; exit 5'
    expect "strace on its own child" 5 RED exit-status
    check "and it saw the calls" grep -q execve "$WS/trace"
    traced=strace
fi
if command -v gdb >/dev/null; then
    leg -- /usr/bin/gdb -batch -nx -ex run -ex bt --args /bin/sh -c 'kill -SEGV $$'
    check "gdb on its own child" grep -qa SIGSEGV "$T/out"
    traced=gdb
fi
[ -n "$traced" ] || skip "gdb or strace on its own child" "neither is installed"
inside 'sqlite3 db "create table t(x); insert into t values (1); pragma journal_mode=wal; insert into t values (2); select count(*) from t"'
expect "sqlite3 with a write-ahead log" 0 GREEN
inside 'perl -e "system(q(true)) == 0 or die; open(F, q(>), q(p)) or die; flock(F, 2) or die"'
expect "perl" 0 GREEN
inside 'script -qec "tty" /dev/null </dev/null'
expect "a terminal of its own (script)" 0 GREEN
check "named by its own devpts" grep -qa /dev/pts/ "$T/out"
inside 'timeout 20 bash -c "for i in \$(seq 200); do /bin/true & done; wait"'
expect "two hundred children at once" 0 GREEN
leg --view host --workspace "$WS" -- /bin/bash -c "cd '$WS' && cc -x c -o h - <<<'int main(void){return 0;}' && ./h"
expect "the host's view: compile and run" 0 GREEN
finish
