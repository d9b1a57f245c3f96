#include "plot.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome last;

void plot_make(struct plot *plot)
{
    /* On a disk: before Linux 6.3 a tmpfs cannot be id-mapped. */
    (void)mkdir("/var/tmp", 01777);
    strcpy(plot->path, "/var/tmp/saphan-test-XXXXXX");
    assert_non_null(mkdtemp(plot->path));
    assert_int_equal(chmod(plot->path, 0755), 0);
    assert_int_equal(chown(plot->path, SOMEONE, SOMEONE), 0);
    (void)snprintf(plot->variable, sizeof(plot->variable), "G=%s", plot->path);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return remove(path);
}

void plot_clear(const struct plot *plot)
{
    assert_int_equal(nftw(plot->path, drop, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT), 0);
}

const char *plot_path(const struct plot *plot, const char *name)
{
    static char paths[32][256];
    static size_t next;
    char *path = paths[next++ % 32];

    (void)snprintf(path, sizeof(paths[0]), "%s%s%s", plot->path, name[0] ? "/" : "", name);
    return path;
}

void plot_file(const struct plot *plot, const char *name, const char *text, uint32_t uid)
{
    int fd = open(plot_path(plot, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchown(fd, uid, uid), 0);
    close(fd);
}

void plot_directory(const struct plot *plot, const char *name, uint32_t uid)
{
    assert_int_equal(mkdir(plot_path(plot, name), 0755), 0);
    assert_int_equal(chown(plot_path(plot, name), uid, uid), 0);
}

void plot_link(const struct plot *plot, const char *name, const char *target)
{
    assert_int_equal(symlink(target, plot_path(plot, name)), 0);
    assert_int_equal(lchown(plot_path(plot, name), SOMEONE, SOMEONE), 0);
}

static _Noreturn void control_child(const struct plot *plot, uint32_t uid, const char *script)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(100);
    if (putenv((char *)(uintptr_t)plot->variable) != 0 || chdir(plot->path) < 0)
        _exit(101);
    if (uid &&
        (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        _exit(102);
    (void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
    _exit(103);
}

int control(const struct plot *plot, uint32_t uid, const char *script)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0)
        control_child(plot, uid, script);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

struct play plot_play(const struct plot *plot, const char *name, uint32_t kind)
{
    return (struct play){.uid = SOMEONE,
        .gid = SOMEONE,
        .variable = plot->variable,
        .mounts = {{.path = plot_path(plot, name), .kind = kind}}};
}

static void tell(const char *script)
{
    print_error("script: %s\nstep %s: %s: %s\nstatus 0x%x, started %d, exited %d, told %u %s\n"
                "output: %s\n",
        script ? script : "(none)", step_slug(last.fault.step), last.fault.subject,
        strerror(last.fault.error), (unsigned int)last.wait_status, last.started, last.exited,
        last.n_told, last.told, last.output);
}

void expect_status(const struct play *play, const char *script, int status)
{
    int r = script ? play_script(play, script, &last) : play_run(play, &last);
    int got =
        WIFEXITED(last.wait_status) ? WEXITSTATUS(last.wait_status) : -WTERMSIG(last.wait_status);

    bool as_wanted = status == FAILS ? got > 0 : got == status;

    if (r != 0 || last.fault.step || !last.started || !last.exited || !as_wanted) {
        tell(script);
        fail_msg("r %d, wanted status %d, got %d", r, status, got);
    }
}

void expect_output(const struct play *play, const char *script, int status, const char *text)
{
    expect_status(play, script, status);
    if (!strstr(last.output, text)) {
        tell(script);
        fail_msg("output does not hold: %s", text);
    }
}

void expect_failure(const struct play *play, uint32_t step, int error)
{
    int r = play_script(play, "exit 0", &last);

    if (r != 0 || last.fault.step != step || last.fault.error != error || last.started) {
        tell("exit 0");
        fail_msg("r %d, wanted step %s: %s", r, step_slug(step), strerror(error));
    }
}

void need_program(const char *program)
{
    const char *must = getenv("SAPHAN_MUST_RUN");
    char path[256];

    (void)snprintf(path, sizeof(path), "/usr/bin/%s", program);
    if (access(path, X_OK) == 0)
        return;
    if (must && strcmp(must, "1") == 0)
        fail_msg("%s is not installed", path);
    print_message("skip: %s is not installed\n", path);
    skip();
}
