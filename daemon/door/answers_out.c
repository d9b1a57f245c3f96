#include "answers_out.h"

#include "own.h"
#include "tls_forward.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* A few bytes into an empty socket always fit; a peer that is gone is seen by whoever reads next.
 */
static int say(struct passage *passage, const void *bytes, size_t size)
{
    ssize_t n = send(passage->client, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0)
        return -errno;
    return (size_t)n == size ? 0 : -EIO;
}

const char *answer_way_name(const struct passage *passage)
{
    if (passage->way == WAY_FORWARD)
        return "by a forward";
    if (passage->way == WAY_SOCKS)
        return "by SOCKS5";
    return passage->tunnel ? "by CONNECT" : "by plain HTTP";
}

void answer_describe(const struct passage *passage, char *out, size_t size)
{
    const struct door *door = passage->door;
    const struct host_pattern *rule = host_list_find(door->hosts, door->n_hosts, &passage->target);
    char address[ADDRESS_TEXT_MAX] = "-", text[FORWARD_TEXT_MAX];

    if (passage->at_address > 0)
        address_format(&passage->addresses[passage->at_address - 1], address);
    if (passage->way == WAY_FORWARD)
        forward_format(&door->forwards[passage->forward].forward, text);
    else if (rule)
        host_pattern_format(rule, text);
    else
        (void)strcpy(text, "-");
    (void)snprintf(out, size, "address=%s rule=%s %s", address, text, answer_way_name(passage));
}

int answer_good(struct passage *passage)
{
    static const char good[] = "HTTP/1.1 200 Connection established\r\n\r\n";

    if (passage->way == WAY_SOCKS) {
        uint8_t reply[SOCKS5_REPLY_SIZE];

        socks5_reply(SOCKS5_REPLY_GOOD, reply);
        return say(passage, reply, sizeof(reply));
    }
    return passage->way == WAY_HTTP && passage->tunnel ? say(passage, good, sizeof(good) - 1) : 0;
}

void answer_greeting(struct passage *passage, bool good)
{
    const uint8_t reply[] = {5, good ? 0 : 0xff};

    (void)say(passage, reply, sizeof(reply));
}

void answer_socks(struct passage *passage, enum socks5_reply reply)
{
    uint8_t bytes[SOCKS5_REPLY_SIZE];

    socks5_reply(reply, bytes);
    (void)say(passage, bytes, sizeof(bytes));
}

static const char *status_of(enum reason reason)
{
    switch (reason) {
    case REASON_PROXY_REQUEST_MALFORMED:
        return "400 Bad Request";
    case REASON_NAME_UNRESOLVED:
    case REASON_CONNECT_FAILED:
    case REASON_CERTIFICATE_REFUSED:
        return "502 Bad Gateway";
    case REASON_CONNECTIONS_TOO_MANY:
        return "503 Service Unavailable";
    default:
        return "403 Forbidden";
    }
}

static enum socks5_reply socks_of(enum reason reason)
{
    switch (reason) {
    case REASON_NAME_UNRESOLVED:
        return SOCKS5_REPLY_HOST_UNREACHABLE;
    case REASON_CONNECT_FAILED:
        return SOCKS5_REPLY_REFUSED;
    case REASON_HOST_NOT_LISTED:
    case REASON_ADDRESS_REFUSED:
        return SOCKS5_REPLY_NOT_ALLOWED;
    default:
        return SOCKS5_REPLY_FAILED;
    }
}

static void say_http(
    struct passage *passage, enum reason reason, const char *subject, const char *detail)
{
    const struct reason_entry *entry = reason_entry(reason);
    char body[1024], head[512];
    int size = snprintf(body, sizeof(body), "saphan: %s: %s (%s)\n%s\n%s\n", entry->slug, subject,
        detail, entry->meaning, entry->remedy);
    int length = snprintf(head, sizeof(head),
        "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"
        "X-Saphan-Reason: %s\r\nConnection: close\r\n\r\n",
        status_of(reason), size, entry->slug);

    if (say(passage, head, (size_t)length) == 0)
        (void)say(passage, body, (size_t)size);
}

void answer_refusal(
    struct passage *passage, enum reason reason, const char *subject, const char *detail)
{
    /* A fatal alert of TLS, unrecognized_name: the program is in the middle of a handshake. */
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 112};

    if (passage->state == PASSAGE_HELLO)
        (void)say(passage, alert, sizeof(alert));
    else if (passage->way == WAY_HTTP || tls_forward_is(passage))
        say_http(passage, reason, subject, detail);
    else if (passage->way == WAY_SOCKS && passage->greeted &&
             reason != REASON_PROXY_REQUEST_MALFORMED)
        answer_socks(passage, socks_of(reason));
}
