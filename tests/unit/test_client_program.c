/* test_client_program.c - saphan run: what it asks, what it lets through, what it ends with. */
#include "client_started.h"

#include <signal.h>
#include <sys/ioctl.h>

/* ---- what is refused before anything is asked ---- */

static void bad_command_lines_are_125(void **state)
{
    static const char *const bad[][8] = {{NULL}, {"rnu"}, {"run"}, {"run", "--"},
        {"run", "/bin/true"}, {"run", "--workspac", ".", "--", "x"}, {"run", "--read"},
        {"run", "--json=1", "--", "x"}, {"run", "--read", "absent", "--", "x"},
        {"run", "--read", "fifo", "--", "x"}, {"run", "--limit", "memory=-1", "--", "x"},
        {"run", "--limit", "memory=10X", "--", "x"}, {"run", "--limit", "swap=1", "--", "x"},
        {"run", "--limit", "tasks=0", "--", "x"}, {"run", "--limit", "", "--", "x"},
        {"run", "--net", "some", "--", "x"}, {"run", "--view", "", "--", "x"},
        {"run", "--stdin", "yes", "--", "x"}, {"run", "--env", "SAPHAN_TEST_UNSET", "--", "x"},
        {"run", "--env", "=x", "--", "x"}, {"run", "--git", "--", "x"},
        {"run", "--artefact", "a,min-size=x", "--", "x"}, {"run", "--", ""},
        {"run", "--artefact", "../a", "--", "x"}, {"legs", "7"}, {"leg"}, {"leg", "hide", "7"},
        {"leg", "show"}, {"leg", "show", "01"}, {"leg", "kill", "0"}, {"leg", "kill", "-1"},
        {"leg", "kill", "7", "8"}, {"leg", "show", "7", "--follow"}, {"status", "x"},
        {"explain", "absent"}, {"explain", "a", "b"}};

    assert_int_equal(mkfifo("fifo", 0644), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct client client;
        struct pollfd asked = {.fd = listener, .events = POLLIN};

        start(&client, bad[i]);
        if (poll(&asked, 1, 0) > 0) /* a grant is opened after connecting */
            client.daemon = accept(listener, NULL, NULL);
        assert_int_equal(finish(&client), 125);
        says(client.err_text, "saphan: ");
        assert_string_equal(client.out_text, "");
        if (poll(&asked, 1, 0) > 0)
            close(accept(listener, NULL, NULL));
    }
}

static void help_needs_no_daemon(void **state)
{
    static const char *const good[][4] = {{"--help"}, {"--version"}, {"run", "--help"},
        {"legs", "--help"}, {"leg", "--help"}, {"leg", "show", "--help"}, {"leg", "logs", "--help"},
        {"leg", "kill", "-h"}, {"status", "--help"}, {"explain", "--help"}, {"explain"},
        {"explain", "artefact-absent"}};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct client client;

        start(&client, good[i]);
        assert_int_equal(finish(&client), 0);
        assert_true(strlen(client.out_text) > 10);
        assert_string_equal(client.err_text, "");
    }
}

static void no_daemon_is_125(void **state)
{
    static const char *const words[] = {"run", "--", "/bin/true", NULL};
    struct client client;

    assert_int_equal(setenv("SAPHAN_SOCKET", "/nonexistent/socket", 1), 0);
    start(&client, words);
    assert_int_equal(finish(&client), 125);
    says(client.err_text, "connect: /nonexistent/socket");
    says(client.err_text, "ENOENT");
    assert_int_equal(setenv("SAPHAN_SOCKET", socket_path, 1), 0);
}

/* ---- what is asked ---- */

static void the_whole_command_line_is_asked(void **state)
{
    static const char *const words[] = {"run", "--boundary=domain", "--view", "host", "--net",
        "host", "--workspace", ".", "--read", "/usr", "--carve-out", "x", "--artefact",
        "out,min-size=3", "--limit", "tasks=9,wall=2s", "--env", "A=b", "--env", "HOME",
        "--keep-output", "--vendor", "proc", "--", "prog", "--json", NULL};
    struct client client;
    Saphan__V1__Run *run;

    start_run(&client, words);
    run = client.asked.frame->run;
    assert_int_equal(run->boundary, SAPHAN__V1__BOUNDARY__BOUNDARY_DOMAIN);
    assert_int_equal(run->view, SAPHAN__V1__VIEW__VIEW_HOST);
    assert_int_equal(run->net, SAPHAN__V1__NET__NET_HOST);
    assert_int_equal(run->n_grants, 2);
    assert_int_equal(client.asked.n_fds, 2);
    assert_int_equal(run->grants[0]->kind, SAPHAN__V1__GRANT_KIND__GRANT_WORKSPACE);
    assert_int_equal(run->n_carve_outs, 1);
    assert_true(run->artefacts[0]->min_size == 3);
    assert_true(run->limits->tasks == 9 && run->limits->wall_ms == 2000);
    assert_int_equal(run->n_env, 2);
    assert_memory_equal(run->env[1].data, "HOME=", 5);
    assert_int_equal(run->standard_input->mode, SAPHAN__V1__STREAM_MODE__STREAM_NULL);
    assert_int_equal(run->standard_output->mode, SAPHAN__V1__STREAM_MODE__STREAM_KEEP);
    assert_int_equal(run->n_argv, 2);
    assert_memory_equal(run->argv[1].data, "--json", 6);
    assert_string_equal(run->vendor, "proc");
    assert_true(fake_refuse(client.daemon, 1, "not-allowed", 125));
    assert_int_equal(finish(&client), 125);
    says(client.err_text, "not-allowed: it means this");
    says(client.err_text, "do that");
    says(client.err_text, "REFUSED not-allowed; nothing was run\n");
    forget(&client);
}

static void pipes_go_straight_through(void **state)
{
    static const char *const words[] = {"run", "--", "prog", NULL};
    struct client client;

    start_run(&client, words);
    assert_int_equal(
        client.asked.frame->run->standard_output->mode, SAPHAN__V1__STREAM_MODE__STREAM_DESCRIPTOR);
    assert_int_equal(client.asked.n_fds, 2);
    assert_int_equal(write(client.asked.fds[0], "straight", 8), 8);
    forget(&client);
    assert_true(fake_accept(client.daemon, 1, LEG));
    assert_true(fake_tell(client.daemon, 1, LEG, "started", "", 2));
    assert_true(fake_verdict(client.daemon, 1, LEG, SAPHAN__V1__COLOUR__GREEN, 0, 0, NULL));
    assert_int_equal(finish(&client), 0);
    assert_string_equal(client.out_text, "straight");
    assert_string_equal(client.err_text,
        "saphan: GREEN; exit 0; 1.234 s; leg 17; walls: stranger; egress: not cut\n");
}

static void a_terminal_is_never_passed(void **state)
{
    static const char *const words[] = {"run", "--", "prog", NULL};
    char name[64], text[4096];
    size_t at = 0;
    struct client client;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), other;
    ssize_t n;

    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    assert_int_equal(ptsname_r(terminal, name, sizeof(name)), 0);
    other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(other >= 0);
    start_on(&client, words, other);
    hear(&client);
    assert_int_equal(client.asked.n_fds, 2);
    assert_false(isatty(client.asked.fds[0]) || isatty(client.asked.fds[1]));
    assert_int_equal(write(client.asked.fds[0], "one ", 4), 4);
    assert_int_equal(write(client.asked.fds[1], "two ", 4), 4);
    assert_int_equal(write(client.asked.fds[0], "three\n", 6), 6);
    forget(&client);
    assert_true(fake_verdict(client.daemon, 1, LEG, SAPHAN__V1__COLOUR__RED, 112, 0, "absent"));
    assert_int_equal(finish(&client), 112);
    close(other);
    while (at + 1 < sizeof(text) && (n = read(terminal, text + at, sizeof(text) - 1 - at)) > 0)
        at += (size_t)n;
    text[at] = '\0';
    says(text, "one two three\r\n");
    says(text, "saphan: \033[31mRED\033[0m absent; exit 0");
    /* What a leg chose cannot steer the terminal. */
    says(text, "absent: out\\x1b[2J: it means this");
    close(terminal);
}

/* ---- what it ends with ---- */

static void statuses_are_the_verdicts(void **state)
{
    static const char *const words[] = {"run", "--", "prog", NULL};
    static const struct {
        Saphan__V1__Colour colour;
        int client_status, wait_status, wanted;
        const char *says;
    } cases[] = {{SAPHAN__V1__COLOUR__RED, 3, 3 << 8, 3, "RED why; exit 3;"},
        {SAPHAN__V1__COLOUR__RED, 139, 11 | 0x80, 139, "signal 11 (SEGV, core dumped)"},
        {SAPHAN__V1__COLOUR__RED, 124, 9, 124, "signal 9 (KILL)"},
        {SAPHAN__V1__COLOUR__INDETERMINATE, 125, 0, 125, "INDETERMINATE why"},
        {SAPHAN__V1__COLOUR__RED, 9999, 0, 125, "RED"},
        {SAPHAN__V1__COLOUR__RED, -1, 0, 125, "RED"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct client client;

        start_run(&client, words);
        forget(&client);
        assert_true(fake_verdict(client.daemon, 1, LEG, cases[i].colour, cases[i].client_status,
            cases[i].wait_status, "why"));
        assert_int_equal(finish(&client), cases[i].wanted);
        says(client.err_text, cases[i].says);
    }
}

static void our_failures_are_125(void **state)
{
    static const char *const words[] = {"run", "--", "prog", NULL};
    static const uint8_t busy[4] = {0}, junk[] = {1, 0, 0, 0, 0xff};
    struct client client;

    start_run(&client, words);
    forget(&client);
    client.daemon = close_fd(&client.daemon);
    assert_int_equal(finish(&client), 125);
    says(client.err_text, "ended the connection");
    start_run(&client, words);
    forget(&client);
    assert_true(fake_bytes(client.daemon, busy, sizeof(busy)));
    assert_int_equal(finish(&client), 125);
    says(client.err_text, "too many connections");
    start_run(&client, words);
    forget(&client);
    assert_true(fake_bytes(client.daemon, junk, sizeof(junk)));
    assert_int_equal(finish(&client), 125);
    says(client.err_text, "not saphand's protocol");
    /* A refusal that claims to be the program's own success is none. */
    start_run(&client, words);
    forget(&client);
    assert_true(fake_refuse(client.daemon, 1, "not-allowed", 0));
    assert_int_equal(finish(&client), 125);
}

static void a_missing_program_is_127_with_what_would_show_it(void **state)
{
    char real[64], wanted[256];
    const char *words[] = {"run", "--", "saphan-test-tool", NULL};
    struct client client;
    auto_free char *path = strdup(getenv("PATH"));
    FILE *file;

    assert_int_equal(mkdir("bin", 0755), 0);
    file = fopen("bin/saphan-test-tool", "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod("bin/saphan-test-tool", 0755), 0);
    (void)snprintf(real, sizeof(real), "%s/bin", top);
    assert_int_equal(setenv("PATH", real, 1), 0);
    start_run(&client, words);
    forget(&client);
    assert_true(fake_refuse(client.daemon, 1, "command-not-found", 127));
    assert_int_equal(finish(&client), 127);
    (void)snprintf(
        wanted, sizeof(wanted), "saphan run --read %s ... -- %s/saphan-test-tool", real, real);
    says(client.err_text, wanted);
    assert_int_equal(setenv("PATH", path, 1), 0);
    start_run(&client, words);
    forget(&client);
    assert_true(fake_refuse(client.daemon, 1, "command-not-found", 127));
    assert_int_equal(finish(&client), 127);
    assert_null(strstr(client.err_text, "--read"));
}

static void a_signal_has_the_leg_killed_and_its_verdict_shown(void **state)
{
    static const char *const words[] = {"run", "--", "prog", NULL};
    struct fake_frame kill_asked;
    struct client client;
    int killer;

    start_run(&client, words);
    forget(&client);
    assert_true(fake_accept(client.daemon, 1, LEG));
    assert_true(fake_tell(client.daemon, 1, LEG, "started", "", 2));
    /* It must have read its leg's number first: it asks nothing until then, so give it a signal
     * only when all was read, which an empty queue shows. */
    for (int left = 1; left > 0;)
        assert_int_equal(ioctl(client.daemon, 0x5411 /* SIOCOUTQ */, &left), 0);
    assert_int_equal(kill(client.pid, SIGINT), 0);
    /* on a connection of its own: saphand reads nothing of this one until the run is over */
    assert_true(fake_wait(listener));
    killer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(killer >= 0);
    fake_read(killer, &kill_asked);
    assert_non_null(kill_asked.frame);
    assert_int_equal(kill_asked.frame->body_case, SAPHAN__V1__CLIENT_FRAME__BODY_KILL_LEG);
    assert_true(kill_asked.frame->kill_leg->leg == LEG);
    assert_true(fake_end(killer, kill_asked.frame->request));
    fake_free(&kill_asked);
    assert_true(
        fake_verdict(client.daemon, 1, LEG, SAPHAN__V1__COLOUR__RED, 125, 9, "killed-by-request"));
    assert_int_equal(finish(&client), 130);
    close(killer);
    says(client.err_text, "RED killed-by-request; signal 9");
}

static void a_signal_before_any_answer_ends_it(void **state)
{
    static const char *const words[] = {"run", "--", "prog", NULL};
    struct client client;
    int status;

    start_run(&client, words);
    forget(&client);
    assert_int_equal(kill(client.pid, SIGTERM), 0);
    status = finish(&client); /* before it watches for signals, the signal itself ends it */
    assert_true(status == 128 + SIGTERM || status == 1000 + SIGTERM);
}

static void detached_prints_its_leg(void **state)
{
    static const char *const words[] = {"run", "--detach", "--", "prog", NULL};
    struct client client;

    start_run(&client, words);
    assert_true(client.asked.frame->run->detach);
    assert_int_equal(
        client.asked.frame->run->standard_error->mode, SAPHAN__V1__STREAM_MODE__STREAM_KEEP);
    forget(&client);
    assert_true(fake_accept(client.daemon, 1, LEG));
    assert_int_equal(finish(&client), 0);
    assert_string_equal(client.out_text, "17\n");
    says(client.err_text, "saphan leg show 17");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_command_lines_are_125),
        cmocka_unit_test(help_needs_no_daemon),
        cmocka_unit_test(no_daemon_is_125),
        cmocka_unit_test(the_whole_command_line_is_asked),
        cmocka_unit_test(pipes_go_straight_through),
        cmocka_unit_test(a_terminal_is_never_passed),
        cmocka_unit_test(statuses_are_the_verdicts),
        cmocka_unit_test(our_failures_are_125),
        cmocka_unit_test(a_missing_program_is_127_with_what_would_show_it),
        cmocka_unit_test(a_signal_has_the_leg_killed_and_its_verdict_shown),
        cmocka_unit_test(a_signal_before_any_answer_ends_it),
        cmocka_unit_test(detached_prints_its_leg),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
