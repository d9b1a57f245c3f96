#include "environment.h"

#include "forward.h"
#include "text.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

DEFINE_AUTO(char **, environment_free);

void environment_free(char **environment)
{
    if (!environment)
        return;
    for (size_t i = 0; environment[i]; i++)
        free(environment[i]);
    free(environment);
}

static bool same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");

    return length == strcspn(b, "=") && strncmp(a, b, length) == 0;
}

static size_t count_of(char *const *list)
{
    size_t count = 0;

    while (list[count])
        count++;
    return count;
}

/* Takes TEXT over.  It replaces one of the same name in its place. */
static int put_take(char **list, char *text)
{
    size_t count = count_of(list);

    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!same_name(list[i], text))
            continue;
        free(list[i]);
        list[i] = text;
        return 0;
    }
    if (count == ENVIRONMENT_MAX) {
        free(text);
        return ENVIRONMENT_E_TOO_MANY;
    }
    list[count] = text;
    return 0;
}

static char *user_text(const char *name, const struct leg_surroundings *about)
{
    if (about->user)
        return text_format("%s=%s", name, about->user);
    return text_format("%s=%" PRIu32, name, about->uid);
}

const char *environment_path(uint32_t uid)
{
    return uid == 0 ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                    : "/usr/local/bin:/usr/bin:/bin";
}

static int put_the_few(char **list, const struct leg_surroundings *about)
{
    char *few[] = {
        text_format("PATH=%s", environment_path(about->uid)),
        text_format("HOME=%s", about->home),
        text_format("LANG=C.UTF-8"),
        text_format("TERM=dumb"),
        text_format("TMPDIR=/tmp"),
        user_text("USER", about),
        user_text("LOGNAME", about),
        text_format("SHELL=/bin/sh"),
    };
    int r = 0;

    for (size_t i = 0; i < array_size(few); i++) {
        int put = put_take(list, few[i]);

        r = r ? r : put;
    }
    return r;
}

#define TEXT_OF(number) #number
#define PORT_TEXT(number) TEXT_OF(number)
#define PROXY_HTTP "http://127.0.0.1:" PORT_TEXT(DOOR_PORT_HTTP)
#define JAVA_PROXY(scheme)                                                                         \
    "-D" scheme ".proxyHost=127.0.0.1 -D" scheme ".proxyPort=" PORT_TEXT(DOOR_PORT_HTTP)

/* Programs that honour a proxy know it by one of these; the others need a forward.  ALL_PROXY too
 * is the HTTP one: libraries that find a SOCKS proxy there and lack their SOCKS part refuse to
 * start. */
static int put_proxies(char **list, const struct leg_surroundings *about)
{
    static const char *const proxies[] = {
        "HTTP_PROXY=" PROXY_HTTP,
        "http_proxy=" PROXY_HTTP,
        "HTTPS_PROXY=" PROXY_HTTP,
        "https_proxy=" PROXY_HTTP,
        "ALL_PROXY=" PROXY_HTTP,
        "all_proxy=" PROXY_HTTP,
        "NO_PROXY=localhost,127.0.0.1,::1",
        "no_proxy=localhost,127.0.0.1,::1",
    };
    int r = 0;

    for (size_t i = 0; i < array_size(proxies) && r == 0; i++)
        r = put_take(list, strdup(proxies[i]));
    if (r == 0 && about->node)
        r = put_take(list, strdup("NODE_USE_ENV_PROXY=1"));
    if (r == 0 && about->jvm)
        r = put_take(list, strdup("JAVA_TOOL_OPTIONS=" JAVA_PROXY("http") " " JAVA_PROXY(
                               "https") " -Dhttp.nonProxyHosts=localhost|127.*|[::1]"));
    return r;
}

int environment_compose(const struct leg_surroundings *about, const char *const *requested,
    size_t n_requested, char ***ret, const char **ret_bad)
{
    auto_(environment_free) char **list = calloc(ENVIRONMENT_MAX + 1, sizeof(*list));
    int r;

    if (!list)
        return -ENOMEM;
    r = put_the_few(list, about);
    if (r == 0 && about->door)
        r = put_proxies(list, about);
    for (size_t i = 0; i < n_requested && r == 0; i++) {
        if (requested[i][0] == '=' || !strchr(requested[i], '=')) {
            if (ret_bad)
                *ret_bad = requested[i];
            return ENVIRONMENT_E_NAME;
        }
        r = put_take(list, strdup(requested[i]));
    }
    if (r == 0)
        r = put_take(list, text_format("SAPHAN_LEG=%" PRIu64, about->leg));
    if (r != 0)
        return r;
    *ret = steal_ptr(list);
    return 0;
}
