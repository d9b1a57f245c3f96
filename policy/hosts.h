/* hosts.h - what may be reached through a leg's door: names, addresses and ports.  Pure.
 *
 * A pattern is what a policy or a request says; a target is what a program asked for.  Both are
 * canonical once they are parsed: names in small letters without a last dot, addresses as bytes,
 * IPv4 inside IPv6 as IPv4.  A text that could be read as an address in another spelling (octal,
 * hexadecimal, one number, a zone) is neither a name nor an address: it is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_NAME_LIMIT 254 /* with its NUL: RFC 1035 */
#define HOST_TEXT_MAX 272   /* "[...]:65535", "*.name:443", with its NUL */
#define HOSTS_MAX 64        /* patterns of one request, and of one leg's list */
#define HOST_PORT_STANDARD 443

struct host_address {
    uint8_t bytes[16]; /* network order; IPv4 in the first four */
    uint8_t family;    /* 4 or 6 */
};

enum host_kind {
    HOST_EXACT = 1,   /* this name */
    HOST_BELOW = 2,   /* every name below it, at any depth, and not itself: "*.example.org" */
    HOST_ADDRESS = 3, /* this address, whatever kind of address it is */
    HOST_ANY = 4, /* every name but localhost, every address that is public: in ceilings alone */
};

struct host_pattern {
    enum host_kind kind;
    uint16_t port; /* 0: any, in ceilings alone */
    struct host_address address;
    char name[HOST_NAME_LIMIT];
};

/* What kind an address is; all but PUBLIC are refused where they were not named themselves. */
enum address_kind {
    ADDRESS_PUBLIC,
    ADDRESS_UNSPECIFIED, /* 0.0.0.0/8, :: */
    ADDRESS_LOOPBACK,
    ADDRESS_PRIVATE,    /* RFC 1918, shared (RFC 6598), unique local */
    ADDRESS_LINK_LOCAL, /* cloud metadata lives there */
    ADDRESS_METADATA,   /* metadata services that live elsewhere */
    ADDRESS_MULTICAST,
    ADDRESS_RESERVED,   /* documentation, benchmarking, broadcast, never given out */
    ADDRESS_TRANSLATED, /* IPv6 that carries an IPv4 address another machine would go to */
};

enum address_kind address_kind(const struct host_address *address);
const char *address_kind_name(enum address_kind kind);
bool address_equal(const struct host_address *a, const struct host_address *b);
/* "192.0.2.1", "2001:db8::1". */
#define ADDRESS_TEXT_MAX 48
void address_format(const struct host_address *address, char out[ADDRESS_TEXT_MAX]);

/* A host as a program names it: LENGTH bytes, a name or an address literal (IPv6 with or without
 * its brackets).  The result's kind is EXACT or ADDRESS.  -EINVAL for everything else. */
int host_target_parse(const char *host, size_t length, uint16_t port, struct host_pattern *ret);

/* "1" to "65535", LENGTH bytes. -EINVAL. */
int host_port_parse(const char *text, size_t length, uint16_t *ret);

/* "HOST[:PORT]", "*.HOST[:PORT]", "ADDRESS[:PORT]", "[ADDRESS6][:PORT]"; without a port it is 443.
 * With CEILING also "*" for the host and for the port.  -EINVAL. */
int host_pattern_parse(const char *text, bool ceiling, struct host_pattern *ret);
void host_pattern_format(const struct host_pattern *pattern, char out[HOST_TEXT_MAX]);

/* Holds what came in a message to the form that host_pattern_parse() leaves. */
bool host_pattern_is_canonical(const struct host_pattern *pattern, bool ceiling);

/* Every target that ASKED matches, CEILING matches too. */
bool host_pattern_covers(const struct host_pattern *ceiling, const struct host_pattern *asked);
bool host_pattern_equal(const struct host_pattern *a, const struct host_pattern *b);

/* A list and a target: the first pattern that matches; NULL: none, so it is refused. */
const struct host_pattern *host_list_find(
    const struct host_pattern *list, size_t count, const struct host_pattern *target);

/* May TARGET's name be connected to at ADDRESS, now that it was resolved?  A public address may;
 * any other only where this very address and port is on the list, or the target is `localhost` by
 * name and the address is loopback. */
bool host_address_allowed(const struct host_pattern *list, size_t count,
    const struct host_pattern *target, const struct host_address *address);
