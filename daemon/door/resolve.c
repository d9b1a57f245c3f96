/* resolve.c - a name's addresses, by libevent's own resolver: IPv4 first, IPv6 where there is none.
 *
 * A short memory of answers, never longer than their TTL, so that a program that connects a hundred
 * times asks once.  Every use of an answer is checked anew (passage.c). */
#include "resolve.h"

#include "clock.h"
#include "passage.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define NAMES_MAX 64
#define KEEP_MAX_S 30

struct resolution {
    struct passage *passage; /* NULL: nobody waits any more */
    struct evdns_request *request;
    bool six;
};

struct names {
    struct {
        char name[HOST_NAME_LIMIT];
        struct host_address addresses[PASSAGE_ADDRESSES_MAX];
        size_t count;
        uint64_t until_us;
    } known[NAMES_MAX];
    size_t next;
};

static void remember(struct door *door, const char *name, const struct host_address *addresses,
    size_t count, int ttl)
{
    struct names *names = door->names;
    size_t at = names->next;

    if (ttl <= 0)
        return;
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (text_equal(names->known[i].name, name))
            at = i;
    }
    if (at == names->next)
        names->next = (names->next + 1) % NAMES_MAX;
    (void)strcpy(names->known[at].name, name);
    memcpy(names->known[at].addresses, addresses, count * sizeof(*addresses));
    names->known[at].count = count;
    names->known[at].until_us =
        clock_monotonic_us() + (uint64_t)(ttl < KEEP_MAX_S ? ttl : KEEP_MAX_S) * 1000000;
}

static bool recall(struct passage *passage)
{
    struct names *names = passage->door->names;

    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (!text_equal(names->known[i].name, passage->target.name) ||
            names->known[i].until_us <= clock_monotonic_us())
            continue;
        passage_resolved(passage, names->known[i].addresses, names->known[i].count, NULL);
        return true;
    }
    return false;
}

static size_t read_answer(
    char type, int count, const uint8_t *from, struct host_address ret[PASSAGE_ADDRESSES_MAX])
{
    size_t size = type == DNS_IPv6_AAAA ? 16 : 4, n = 0;

    for (int i = 0; i < count && n < PASSAGE_ADDRESSES_MAX; i++, n++) {
        static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
        const uint8_t *at = from + (size_t)i * size;

        ret[n] = (struct host_address){.family = size == 16 ? 6 : 4};
        if (size == 16 && memcmp(at, mapped, sizeof(mapped)) == 0) {
            ret[n].family = 4;
            memcpy(ret[n].bytes, at + 12, 4);
        } else {
            memcpy(ret[n].bytes, at, size);
        }
    }
    return n;
}

static void ask(struct resolution *resolution);

static void answered(int result, char type, int count, int ttl, void *answer, void *context)
{
    auto_free struct resolution *resolution = context;
    struct passage *passage = resolution->passage;
    struct host_address addresses[PASSAGE_ADDRESSES_MAX];
    size_t n = 0;

    resolution->request = NULL;
    if (!passage)
        return;
    if (result == DNS_ERR_NONE && (type == DNS_IPv4_A || type == DNS_IPv6_AAAA))
        n = read_answer(type, count, answer, addresses);
    if (n == 0 && !resolution->six) {
        resolution->six = true;
        ask(steal_ptr(resolution));
        return;
    }
    passage->resolution = NULL;
    if (n > 0)
        remember(passage->door, passage->target.name, addresses, n, ttl);
    passage_resolved(passage, addresses, n, evdns_err_to_string(result));
}

/* Takes RESOLUTION over. */
static void ask(struct resolution *resolution)
{
    struct passage *passage = resolution->passage;
    struct evdns_base *dns = passage->door->dns;
    const char *name = passage->target.name;

    /* The answer may come before the call is over, and then all of it is gone. */
    resolution->request = NULL;
    struct evdns_request *request =
        resolution->six
            ? evdns_base_resolve_ipv6(dns, name, DNS_QUERY_NO_SEARCH, answered, resolution)
            : evdns_base_resolve_ipv4(dns, name, DNS_QUERY_NO_SEARCH, answered, resolution);
    if (request) {
        resolution->request = request;
        return;
    }
    passage->resolution = NULL;
    free(resolution);
    passage_resolved(passage, NULL, 0, "the resolver cannot be asked");
}

void resolve_begin(struct passage *passage)
{
    struct resolution *resolution;

    if (recall(passage))
        return;
    resolution = calloc(1, sizeof(*resolution));
    if (!resolution || evdns_base_count_nameservers(passage->door->dns) == 0) {
        free(resolution);
        passage_resolved(passage, NULL, 0, "no resolver is configured");
        return;
    }
    resolution->passage = passage;
    passage->resolution = resolution;
    ask(resolution);
}

void resolve_cancel(struct passage *passage)
{
    struct resolution *resolution = passage->resolution;

    if (!resolution)
        return;
    passage->resolution = NULL;
    resolution->passage = NULL; /* answered() frees it */
    if (resolution->request)
        evdns_cancel_request(passage->door->dns, resolution->request);
}

/* ---- which resolvers ---- */

/* The words behind "nameserver"; a zone of an IPv6 address is not understood here. */
static void take_resolv_conf(struct evdns_base *dns, char *text)
{
    char *line, *rest = text;

    while ((line = strsep(&rest, "\n"))) {
        char *word = strsep(&line, " \t");

        if (!text_equal(word, "nameserver"))
            continue;
        while (line && (*line == ' ' || *line == '\t'))
            line++;
        word = strsep(&line, " \t\r");
        if (word && *word)
            (void)evdns_base_nameserver_ip_add(dns, word);
    }
}

int resolve_open(struct door *door, int resolv_conf, const struct seam_message *message,
    struct seam_list resolvers)
{
    const char *at = seam_list_first(message, resolvers);
    char text[4096];
    ssize_t size;

    door->names = calloc(1, sizeof(struct names));
    door->dns = evdns_base_new(door->loop, 0);
    if (!door->names || !door->dns)
        return -ENOMEM;
    (void)evdns_base_set_option(door->dns, "timeout:", "3");
    (void)evdns_base_set_option(door->dns, "attempts:", "2");
    (void)evdns_base_set_option(door->dns, "max-inflight:", "512");
    for (uint32_t i = 0; i < resolvers.count; i++, at = seam_list_next(at)) {
        if (evdns_base_nameserver_ip_add(door->dns, at) != 0)
            return -EINVAL;
    }
    if (resolv_conf < 0)
        return 0;
    size = pread(resolv_conf, text, sizeof(text) - 1, 0);
    if (size < 0)
        return -errno;
    text[size] = '\0';
    take_resolv_conf(door->dns, text);
    return 0;
}
