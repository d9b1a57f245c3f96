/* test_ear_record.c - the kernel's audit records about Landlock: what is read, and what is not. */
#include "audit.h"
#include "blockers.h"
#include "own.h"
#include "record.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "audit(1796000818.183:109): "
#define BIT(name) (UINT64_C(1) << BLOCKER_##name)

static int read_text(uint16_t type, const char *text, struct record *ret)
{
    char copy[4096];

    assert_true(snprintf(copy, sizeof(copy), "%s", text) < (int)sizeof(copy));
    return record_read(type, copy, ret);
}

static const struct {
    const char *text;
    uint64_t blockers;
    const char *object;
    uint64_t ino;
} denials[] = {
    {HEAD "domain=1a9825d86 blockers=fs.read_file path=\"/etc/passwd\" dev=\"vda\" ino=861",
        BIT(FS_READ_FILE), "/etc/passwd", 861},
    {HEAD "domain=1a9825d86 blockers=fs.write_file path=2F7661722F746D702F656172206469722F612262 "
          "dev=\"vda\" ino=1196493",
        BIT(FS_WRITE_FILE), "/var/tmp/ear dir/a\"b", 1196493},
    {HEAD "domain=1a9825d86 blockers=fs.make_reg,fs.refer path=\"/var/tmp\" dev=\"vda\" ino=4",
        BIT(FS_MAKE_REG) | BIT(FS_REFER), "/var/tmp", 4},
    {HEAD "domain=1a9825d86 blockers=net.connect_tcp daddr=127.0.0.1 dest=33883",
        BIT(NET_CONNECT_TCP), "daddr=127.0.0.1 dest=33883", 0},
    {HEAD "domain=1a9825d86 blockers=scope.signal opid=3303 ocomm=\"saphan-probe\"",
        BIT(SCOPE_SIGNAL), "opid=3303 ocomm=saphan-probe", 0},
    {HEAD "domain=1a9825d86 blockers=scope.abstract_unix_socket path=006631323133",
        BIT(SCOPE_ABSTRACT_UNIX), "@f1213", 0},
    {HEAD "domain=1a9825d86 blockers=fs.ioctl_dev path=\"/dev/urandom\" dev=\"devtmpfs\" ino=7 "
          "ioctlcmd=0x5200",
        BIT(FS_IOCTL_DEV), "/dev/urandom ioctlcmd=0x5200", 7},
    {HEAD "domain=1a9825d86 blockers=fs.levitate path=\"/x\" later=\"a key of later days\"",
        BIT(OTHER), "/x", 0},
    {HEAD "domain=1a9825d86 blockers=fs.read_file path=1B5B33316D", BIT(FS_READ_FILE), "\\x1b[31m",
        0},
};

static void each_denial(void **state)
{
    (void)state;
    for (size_t i = 0; i < array_size(denials); i++) {
        struct record record;

        assert_int_equal(read_text(AUDIT_RECORD_LANDLOCK_ACCESS, denials[i].text, &record), 0);
        assert_int_equal(record.kind, RECORD_DENIAL);
        assert_true(record.domain == 0x1a9825d86 && record.serial == 109);
        assert_true(record.at_ms == 1796000818183);
        assert_true(record.blockers == denials[i].blockers);
        assert_true(record.ino == denials[i].ino);
        assert_string_equal(record.object, denials[i].object);
    }
}

static void domains_and_calls(void **state)
{
    struct record record;

    (void)state;
    assert_int_equal(read_text(AUDIT_RECORD_LANDLOCK_DOMAIN,
                         HEAD "domain=1a9 status=allocated mode=enforcing pid=3273 uid=1879049192 "
                              "exe=\"/usr/lib/saphan-stub\" comm=\"saphan-stub\"",
                         &record),
        0);
    assert_int_equal(record.kind, RECORD_DOMAIN_NEW);
    assert_true(record.domain == 0x1a9 && record.pid == 3273 && record.uid == 1879049192);
    assert_int_equal(read_text(AUDIT_RECORD_LANDLOCK_DOMAIN,
                         HEAD "domain=1a9 status=deallocated denials=7", &record),
        0);
    assert_int_equal(record.kind, RECORD_DOMAIN_GONE);
    assert_int_equal(record.denials, 7);
    assert_int_equal(
        read_text(AUDIT_RECORD_SYSCALL,
            HEAD "arch=c000003e syscall=257 success=no exit=-13 a0=ffffff9c ppid=2132 pid=2340 "
                 "tty=(none) ses=4294967295 comm=\"perl\" exe=\"/usr/bin/perl\" key=(null)",
            &record),
        0);
    assert_int_equal(record.kind, RECORD_CALL);
    assert_int_equal(record.pid, 2340);
    assert_string_equal(record.comm, "perl");
    assert_string_equal(record.exe, "/usr/bin/perl");
    assert_int_equal(
        read_text(AUDIT_RECORD_SYSCALL,
            HEAD "arch=c000003e syscall=257 success=no exit=-13 a0=ffffff9c ppid=2132 pid=2340 "
                 "tty=(none) ses=4294967295 comm=612065786520 exe=2F612070696431 key=(null)",
            &record),
        0);
    assert_string_equal(record.comm, "a\\x20exe\\x20");
    assert_string_equal(record.exe, "/a\\x20pid1");
    assert_int_equal(read_text(AUDIT_RECORD_END, HEAD, &record), 0);
    assert_int_equal(record.kind, RECORD_END);
    assert_int_equal(
        read_text(AUDIT_RECORD_CONFIG_CHANGE, HEAD "op=set audit_enabled=0 old=1 res=1", &record),
        0);
    assert_int_equal(record.kind, RECORD_SWITCHED);
    assert_int_equal(
        read_text(AUDIT_RECORD_CONFIG_CHANGE, HEAD "op=set audit_backlog_limit=9 old=8", &record),
        RECORD_E_OTHER);
    assert_int_equal(read_text(1327, HEAD "proctitle=00", &record), RECORD_E_OTHER);
}

static const struct {
    uint16_t type;
    const char *text;
} broken[] = {
    {1423, ""},
    {1423, "audit(1.1:1): domain=1 blockers=fs.execute"},
    {1423, "audit(1.001:1) domain=1 blockers=fs.execute"},
    {1423, "audit(-1.001:1): domain=1 blockers=fs.execute"},
    {1423, "audit(99999999999999999999.001:1): domain=1 blockers=fs.execute"},
    {1423, HEAD},
    {1423, HEAD "domain=1"},
    {1423, HEAD "blockers=fs.execute"},
    {1423, HEAD "domain=1g blockers=fs.execute"},
    {1423, HEAD "domain=11111111111111111 blockers=fs.execute"},
    {1423, HEAD "domain=1 blockers="},
    {1423, HEAD "domain=1 blockers=fs.execute,"},
    {1423, HEAD "domain=1 blockers=fs.execute path=\"/a"},
    {1423, HEAD "domain=1 blockers=fs.execute path=\"/a\"b"},
    {1423, HEAD "domain=1 blockers=fs.execute path=/a"},
    {1423, HEAD "domain=1 blockers=fs.execute path=2f2"},
    {1423, HEAD "domain=1 blockers=fs.execute ino=-1"},
    {1423, HEAD "domain=1 blockers=fs.execute path"},
    {1423, HEAD "domain=1 blockers=fs.execute =x"},
    {1424, HEAD "domain=1 status=allocated pid=1"},
    {1424, HEAD "domain=1 status=allocated uid=1"},
    {1424, HEAD "domain=1 status=allocated pid=4294967296 uid=1"},
    {1424, HEAD "domain=1 status=deallocated"},
    {1424, HEAD "status=deallocated denials=1"},
    {1300, HEAD "pid=1 comm=\"x\""},
    {1300, HEAD "comm=\"x\" exe=\"/x\""},
};

static void each_broken_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < array_size(broken); i++) {
        struct record record;

        if (read_text(broken[i].type, broken[i].text, &record) != -EBADMSG)
            fail_msg("%s: read", broken[i].text);
    }
}

/* Every cut and every changed byte of a good record is read or refused, and stays in its bounds. */
static void spoilt(void **state)
{
    (void)state;
    for (size_t i = 0; i < array_size(denials); i++) {
        size_t length = strlen(denials[i].text);

        for (size_t at = 0; at < length; at++) {
            static const char bytes[] = "\"= (0f.\n\x80";

            for (size_t b = 0; b < sizeof(bytes); b++) {
                struct record record;
                char copy[512];
                int r;

                strcpy(copy, denials[i].text);
                copy[at] = bytes[b];
                r = record_read(AUDIT_RECORD_LANDLOCK_ACCESS, copy, &record);
                assert_true(r == 0 || r == -EBADMSG);
                assert_non_null(memchr(record.object, '\0', sizeof(record.object)));
            }
        }
    }
}

static void long_texts_are_cut(void **state)
{
    char text[AUDIT_RECORD_MAX] = HEAD "domain=1 blockers=fs.execute path=";
    struct record record;
    size_t at = strlen(text);

    (void)state;
    while (at + 2 < sizeof(text) - 1) {
        memcpy(text + at, "07", 3);
        at += 2;
    }
    assert_int_equal(record_read(AUDIT_RECORD_LANDLOCK_ACCESS, text, &record), 0);
    assert_true(strlen(record.object) < RECORD_OBJECT_MAX);
}

static void blockers_there_and_back(void **state)
{
    uint64_t all = (UINT64_C(1) << BLOCKER_COUNT) - 1, bits = 0;
    char text[BLOCKERS_TEXT_MAX];

    (void)state;
    blockers_format(all, text);
    assert_true(strlen(text) < sizeof(text) - 1);
    assert_int_equal(blockers_parse(text, &bits), 0);
    assert_true(bits == all);
    assert_int_equal(blockers_parse("", &bits), -EINVAL);
    assert_int_equal(blockers_parse("fs.execute,,fs.refer", &bits), -EINVAL);
    assert_int_equal(blockers_parse("fs execute", &bits), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_denial),
        cmocka_unit_test(domains_and_calls),
        cmocka_unit_test(each_broken_one),
        cmocka_unit_test(spoilt),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(blockers_there_and_back),
    };

    return cmocka_run_group_tests_name("ear record", tests, NULL, NULL);
}
