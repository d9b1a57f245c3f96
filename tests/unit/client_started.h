/* client_started.h - the program saphan, started against a saphand that says what the test tells it
 * to.  SAPHAN_PROGRAM is its path. */
#pragma once

#include "client_fake.h"

#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#define LEG 17

static char top[] = "/tmp/saphan-program-XXXXXX";
static char socket_path[64];
static int listener = -EBADF;

static inline int enter(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!mkdtemp(top) || chdir(top) < 0)
        return -1;
    (void)snprintf(socket_path, sizeof(socket_path), "%s/s", top);
    memcpy(address.sun_path, socket_path, strlen(socket_path));
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -1;
    return setenv("SAPHAN_SOCKET", socket_path, 1) == 0 ? listen(listener, 8) : -1;
}

static inline int leave(void **state)
{
    char line[128];

    close(listener);
    (void)snprintf(line, sizeof(line), "rm -rf %s", top);
    return chdir("/") == 0 && system(line) == 0 ? 0 : -1;
}

struct client {
    pid_t pid;
    int daemon; /* its connection */
    int out, err;
    struct fake_frame asked;
    char out_text[32768], err_text[8192];
};

/* Starts saphan with WORDS, its output in pipes unless TERMINAL is a descriptor for both. */
static inline void start_on(struct client *client, const char *const *words, int terminal)
{
    posix_spawn_file_actions_t actions;
    char *argv[32] = {getenv("SAPHAN_PROGRAM")};
    int out[2], err[2];

    memset(client, 0, sizeof(*client));
    client->daemon = -EBADF;
    assert_non_null(argv[0]);
    for (size_t i = 0; words[i]; i++)
        argv[i + 1] = (char *)(uintptr_t)words[i];
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, terminal >= 0 ? terminal : out[1], 1);
    (void)posix_spawn_file_actions_adddup2(&actions, terminal >= 0 ? terminal : err[1], 2);
    assert_int_equal(posix_spawn(&client->pid, argv[0], &actions, NULL, argv, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    client->out = out[0];
    client->err = err[0];
}

static inline void start(struct client *client, const char *const *words)
{
    start_on(client, words, -1);
}

/* Takes its connection and first frame. */
static inline void hear(struct client *client)
{
    assert_true(fake_wait(listener));
    client->daemon = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(client->daemon >= 0);
    fake_read(client->daemon, &client->asked);
    assert_non_null(client->asked.frame);
}

static inline void read_text(int fd, char *text, size_t size)
{
    size_t at = strlen(text);
    ssize_t n;

    while (at + 1 < size && fake_wait(fd) && (n = read(fd, text + at, size - 1 - at)) > 0)
        at += (size_t)n;
    text[at] = '\0';
    close(fd);
}

/* Waits for its end; returns its status, 1000 + signal if one ended it. */
static inline int finish(struct client *client)
{
    int status;

    read_text(client->out, client->out_text, sizeof(client->out_text));
    read_text(client->err, client->err_text, sizeof(client->err_text));
    assert_int_equal(waitpid(client->pid, &status, 0), client->pid);
    if (client->daemon >= 0)
        close(client->daemon);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline void start_run(struct client *client, const char *const *words)
{
    start(client, words);
    hear(client);
    assert_int_equal(client->asked.frame->body_case, SAPHAN__V1__CLIENT_FRAME__BODY_RUN);
}

/* Our copies of its descriptors go, as saphand's would. */
static inline void forget(struct client *client)
{
    fake_free(&client->asked);
}

static inline void says(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("wanted \"%s\" in: %s", wanted, text);
}
