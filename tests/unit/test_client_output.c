/* test_client_output.c - what saphan prints: JSON, and the answers of the other verbs. */
#include "client_started.h"

/* ---- JSON ---- */

/* Reads its standard output until that ends with TEXT: then it has seen all that was said to it. */
static void said_so_far(struct client *client, const char *text)
{
    size_t length = strlen(text), at = strlen(client->out_text), from = at;
    ssize_t n;

    while (at < from + length || strcmp(client->out_text + at - length, text) != 0) {
        assert_true(at + 1 < sizeof(client->out_text) && fake_wait(client->out));
        n = read(client->out, client->out_text + at, sizeof(client->out_text) - 1 - at);
        assert_true(n > 0);
        at += (size_t)n;
    }
}

static void json_is_one_object_a_line(void **state)
{
    static const char *const words[] = {"run", "--json", "--", "prog", NULL};
    struct client client;
    int out, err;

    start_run(&client, words);
    assert_int_equal(client.asked.n_fds, 2);
    out = client.asked.fds[0];
    err = client.asked.fds[1];
    client.asked.n_fds = 0;
    forget(&client);
    assert_true(fake_accept(client.daemon, 1, LEG));
    assert_true(fake_tell(client.daemon, 1, LEG, "started", "", 2));
    said_so_far(&client, "\"pid\":2}\n");
    assert_int_equal(write(out, "caf\xc3", 4), 4);
    said_so_far(&client, "\"lost\":0}\n");
    assert_int_equal(write(out, "\xa9\n", 2), 2);
    said_so_far(&client, "\"lost\":0}\n");
    assert_int_equal(write(err, "\xff\xfe", 2), 2);
    said_so_far(&client, "\"lost\":0}\n");
    close(out);
    close(err);
    assert_true(fake_tell(client.daemon, 1, LEG, "denied", "mount(2)", 4));
    assert_true(fake_tell(client.daemon, 1, LEG, "exited", "", 3 << 8));
    assert_true(fake_verdict(client.daemon, 1, LEG, SAPHAN__V1__COLOUR__RED, 3, 3 << 8, "why"));
    assert_int_equal(finish(&client), 3);
    assert_string_equal(client.err_text, "");
    assert_string_equal(client.out_text,
        "{\"schema\":\"saphan.run/1\",\"event\":\"accepted\",\"leg\":17}\n"
        "{\"schema\":\"saphan.run/1\",\"event\":\"started\",\"leg\":17,\"at_ms\":1000,\"pid\":2}\n"
        "{\"schema\":\"saphan.run/"
        "1\",\"event\":\"output\",\"leg\":17,\"stream\":\"stdout\",\"data\":\"caf\","
        "\"encoding\":\"utf-8\",\"lost\":0}\n"
        "{\"schema\":\"saphan.run/"
        "1\",\"event\":\"output\",\"leg\":17,\"stream\":\"stdout\",\"data\":\"\xc3"
        "\xa9\\n\",\"encoding\":\"utf-8\",\"lost\":0}\n"
        "{\"schema\":\"saphan.run/"
        "1\",\"event\":\"output\",\"leg\":17,\"stream\":\"stderr\",\"data\":\"//4=\","
        "\"encoding\":\"base64\",\"lost\":0}\n"
        "{\"schema\":\"saphan.run/1\",\"event\":\"denied\",\"leg\":17,\"at_ms\":1000,\"subject\":"
        "\"/s\",\"detail\":\"mount(2)\",\"reason\":null,\"count\":4,\"first_ms\":0,\"last_ms\":0}\n"
        "{\"schema\":\"saphan.run/1\",\"event\":\"exited\",\"leg\":17,\"at_ms\":1000,\"ended\":"
        "{\"exit\":3},\"cpu_us\":0,\"max_rss\":0}\n"
        "{\"schema\":\"saphan.run/1\",\"event\":\"verdict\",\"leg\":17,\"colour\":\"RED\","
        "\"client_status\":3,\"ended\":{\"exit\":3},\"wall_us\":1234567,\"reasons\":[{\"reason\":"
        "\"why\",\"detail\":\"out\\u001B[2J\",\"meaning\":\"it means this\",\"remedy\":\"do "
        "that\"}],"
        "\"claims\":[{\"claim\":\"stranger\",\"meaning\":\"it is no one\",\"rungs\":[\"userns\"]}],"
        "\"egress_cut\":false,\"kept\":null}\n");
}

static void json_says_our_failures_too(void **state)
{
    static const char *const words[] = {"run", "--json", "--read", "absent", "--", "prog", NULL};
    struct client client;

    start(&client, words);
    assert_int_equal(finish(&client), 125);
    close(accept(listener, NULL, NULL));
    says(client.out_text, "\"event\":\"failed\",\"step\":\"open-grants\",\"errno\":\"ENOENT\"");
    says(client.err_text, "saphan: open-grants: absent: ENOENT");
}

/* ---- the other verbs ---- */

static void verbs_print_what_they_are_told(void **state)
{
    static const char *const legs[] = {"legs", "--all", NULL},
                             *const json[] = {"legs", "--json", NULL},
                             *const logs[] = {"leg", "logs", "17", "--follow", NULL};
    Saphan__V1__Leg leg = SAPHAN__V1__LEG__INIT;
    ProtobufCBinaryData argv[] = {FAKE_BYTES("prog"), FAKE_BYTES("a\033b")};
    struct client client;

    leg.leg = LEG;
    leg.user = (char *)(uintptr_t) "eve";
    leg.state = SAPHAN__V1__LEG_STATE__ENDED;
    leg.colour = SAPHAN__V1__COLOUR__RED;
    leg.argv = argv;
    leg.n_argv = 2;
    leg.reasons = (char *)(uintptr_t) "a,b";
    leg.exited = true;
    leg.wait_status = 9;
    start(&client, legs);
    hear(&client);
    assert_true(client.asked.frame->list_legs->all);
    assert_true(fake_say(client.daemon, 1, LEG, leg, &leg) && fake_end(client.daemon, 1));
    assert_int_equal(finish(&client), 0);
    says(client.out_text, "signal 9 (KILL)");
    says(client.out_text, "prog a\\x1bb\n");
    forget(&client);
    start(&client, json);
    hear(&client);
    assert_true(fake_say(client.daemon, 1, LEG, leg, &leg) && fake_end(client.daemon, 1));
    assert_int_equal(finish(&client), 0);
    says(client.out_text, "{\"schema\":\"saphan.legs/1\",\"event\":\"leg\",\"leg\":17,");
    says(client.out_text, "\"reasons\":[\"a\",\"b\"]");
    forget(&client);
    start(&client, logs);
    hear(&client);
    assert_true(client.asked.frame->leg_logs->follow && client.asked.frame->leg_logs->leg == LEG);
    assert_true(fake_output(client.daemon, 1, 1, "out", 3) &&
                fake_output(client.daemon, 1, 2, "err", 3) && fake_end(client.daemon, 1));
    assert_int_equal(finish(&client), 0);
    assert_string_equal(client.out_text, "out");
    assert_string_equal(client.err_text, "err");
    forget(&client);
}

static void refused_verbs_are_125(void **state)
{
    static const char *const each[][4] = {
        {"leg", "show", "9"}, {"leg", "kill", "9"}, {"legs"}, {"leg", "logs", "9"}, {"status"}};

    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        struct client client;

        start(&client, each[i]);
        hear(&client);
        assert_true(fake_refuse(client.daemon, 1, "leg-unknown", 125));
        assert_int_equal(finish(&client), 125);
        says(client.err_text, "leg-unknown");
        forget(&client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_one_object_a_line),
        cmocka_unit_test(json_says_our_failures_too),
        cmocka_unit_test(verbs_print_what_they_are_told),
        cmocka_unit_test(refused_verbs_are_125),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
