/* Real programs in a leg: what people run must work behind the walls. */
#include "plot.h"

#include "own.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct plot plot;

static int set_up(void **state)
{
    plot_make(&plot);
    return 0;
}

static int tear_down(void **state)
{
    plot_clear(&plot);
    return 0;
}

static struct play play_here(void)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.directory = plot.path;
    return play;
}

/* Writes the program to a file of the grant and runs it there. */
static void expect_program(const char *runs, const char *text, const char *output)
{
    struct play play = play_here();
    char script[128];

    plot_file(&plot, "program", text, SOMEONE);
    (void)snprintf(script, sizeof(script), "%s ./program", runs);
    expect_output(&play, script, 0, output);
}

static void test_python(void **state)
{
    need_program("python3");
    expect_program("/usr/bin/python3",
        "import asyncio, multiprocessing, socket, threading, subprocess\n"
        "def square(n):\n"
        "    return n * n\n"
        "async def talk():\n"
        "    async def serve(reader, writer):\n"
        "        writer.write(await reader.readline()); await writer.drain(); writer.close()\n"
        "    server = await asyncio.start_server(serve, '127.0.0.1', 0)\n"
        "    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())\n"
        "    writer.write(b'spoken\\n')\n"
        "    line = await reader.readline()\n"
        "    loop = asyncio.get_running_loop()\n"
        "    done = asyncio.Event()\n"
        "    threading.Thread(target=loop.call_soon_threadsafe, args=(done.set,)).start()\n"
        "    await done.wait()\n"
        "    process = await asyncio.create_subprocess_exec('echo', 'child',\n"
        "        stdout=asyncio.subprocess.PIPE)\n"
        "    return line + (await process.communicate())[0]\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn', 'forkserver'):\n"
        "        with multiprocessing.get_context(method).Pool(2) as pool:\n"
        "            assert pool.map(square, range(5)) == [0, 1, 4, 9, 16], method\n"
        "    print(asyncio.run(talk()))\n"
        "    a, b = socket.socketpair()\n"
        "    a.sendmsg([b'x']); assert b.recv(1) == b'x'\n"
        "    with socket.socket(socket.AF_UNIX) as s:\n"
        "        s.bind('/tmp/s'); s.listen()\n"
        "        c = socket.socket(socket.AF_UNIX); c.connect('/tmp/s')\n"
        "    print(socket.if_nameindex(), 'all good')\n",
        "all good");
    assert_non_null(strstr(last.output, "b'spoken\\nchild\\n'"));
    assert_int_equal(last.n_told, 0);
}

static void test_node(void **state)
{
    need_program("node");
    expect_program("node",
        "const { Worker, isMainThread, parentPort } = require('worker_threads');\n"
        "const { execFile, fork, spawnSync } = require('child_process');\n"
        "const net = require('net');\n"
        "if (!isMainThread) { parentPort.postMessage('worker'); return; }\n"
        "if (process.send) { process.send('forked'); process.disconnect(); return; }\n"
        "const heard = [];\n"
        "const hear = (what) => { heard.push(what); if (heard.length === 4)\n"
        "  console.log(heard.sort().join(' ')); };\n"
        "new Worker(__filename).on('message', hear);\n"
        "fork(__filename).on('message', hear);\n"
        "execFile('echo', ['child'], (error, out) => hear(out.trim()));\n"
        "const server = net.createServer((c) => c.end('net')).listen(0, '127.0.0.1', () =>\n"
        "  net.connect(server.address().port, '127.0.0.1').on('data', (d) => {\n"
        "    hear(String(d)); server.close(); }));\n",
        "child forked net worker");
    assert_int_equal(last.n_told, 0);
}

static void test_debuggers(void **state)
{
    struct play play = play_here();

    need_program("strace");
    expect_output(&play, "strace -f -e trace=execve true 2>&1", 0, "exited with 0");
    expect_output(&play,
        "sleep 9 & p=$!; strace -p $p -o t 2>s & until test -s s; do sleep 0.01; done; kill $p; "
        "wait; cat t",
        0, "SIGTERM");
    need_program("gdb");
    expect_output(&play,
        "gdb -nx -batch -ex starti -ex 'info registers pc' -ex kill /usr/bin/true 2>&1", 0,
        "killed");
}

static void test_ssh(void **state)
{
    struct play play = play_here();

    need_program("ssh");
    /* "Bad owner or permissions" is what a leg hears whose files have lost their owners. */
    expect_output(&play, "ssh -G example.org", 0, "hostname example.org");
    expect_status(
        &play, "mkdir -m 700 $HOME/.ssh && echo 'Host a' > $HOME/.ssh/config && ssh -G a", 0);
}

static void test_clone_and_make(void **state)
{
    struct play play = play_here();

    need_program("git");
    need_program("make");
    need_program("gcc");
    assert_int_equal(
        control(&plot, SOMEONE,
            "mkdir origin && cd origin && git init -q . && "
            "printf 'int main(void) { return 42; }\\n' > main.c && "
            "printf 'all: hello\\nhello: main.c\\n\\tcc -O2 -o hello main.c\\n' > Makefile && "
            "git add . && git -c user.name=x -c user.email=x@y commit -qm first"),
        0);
    expect_status(&play,
        "git clone -q origin copy && cd copy && make >/dev/null && ./hello; test $? -eq 42 && "
        "echo '/* */' >> main.c && git -c user.name=x -c user.email=x@y commit -qam second && "
        "make && git log --oneline | wc -l | grep -qx 2",
        0);
    assert_int_equal(last.n_told, 0);
}

static void test_shell_tools(void **state)
{
    struct play play = play_here();

    expect_output(&play,
        "seq 1 100 | sort -n | tail -1; find / -maxdepth 2 >/dev/null 2>&1; "
        "tar -cf t.tar /etc/passwd 2>/dev/null && tar -tf t.tar; mktemp; date; nproc",
        0, "etc/passwd");
    expect_status(&play, "exec 3>/dev/shm/x 4>/dev/null 5</dev/urandom; head -c 8 <&5 >&3", 0);
}

static void test_terminal(void **state)
{
    struct play play = play_here();

    need_program("script");
    expect_status(&play, "script -qc 'tty' /dev/null", 0); /* one of its own */
}

/* Dangerous calls are told too, and are no sandbox. */
static void test_dangerous_calls(void **state)
{
    static const struct {
        const char *act, *told;
    } acts[] = {
        {"python3 -c 'import socket; socket.socket(17, 3)' 2>&1 | grep -q 'Errno 1'",
            "socket: seccomp argument=0x11 comm=python3 exe=/usr/bin/python3"},
        {"python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); "
         "c.syscall(321, 0, 0, 0); raise SystemExit(ctypes.get_errno() != 1)'",
            "bpf: seccomp argument=0x0 comm=python3"},
        {"python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); "
         "c.ioctl(0, 0x5412, b\"x\"); raise SystemExit(ctypes.get_errno() != 1)'",
            "ioctl: seccomp argument=0x5412 comm=python3"},
    };
    struct play play = play_here();

    need_program("python3");
    for (size_t i = 0; i < array_size(acts); i++) {
        expect_status(&play, acts[i].act, 0);
        assert_int_equal(last.n_told, 1);
        if (strncmp(last.told, acts[i].told, strlen(acts[i].told)) != 0)
            fail_msg("told: %s, wanted: %s", last.told, acts[i].told);
    }
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_python),
        CASE(test_node),
        CASE(test_debuggers),
        CASE(test_ssh),
        CASE(test_clone_and_make),
        CASE(test_shell_tools),
        CASE(test_terminal),
        CASE(test_dangerous_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
