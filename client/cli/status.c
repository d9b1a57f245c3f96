/* saphan status: the daemon, this machine's rungs as measured, and the rules that name the caller.
 */
#include "ask.h"
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include "verbs.h"
#include <stdio.h>
#include <string.h>

static const char help[] = "usage: saphan status\n"
                           "\n"
                           "Shows how saphand is, each rung of this machine as it was measured, "
                           "and the rules that name you.\n"
                           "Ends with 0 when saphand is healthy, else with 125.\n";

static const struct option table[] = {{"--help", false, 1}, {"-h", false, 1}};

struct listing {
    bool healthy;
    enum saphan_event_kind last;
};

static void print_daemon(const struct saphan_status *status)
{
    (void)printf("saphand:    %s, pid %u, since %s\n", escaped(status->version), status->pid,
        time_text(status->started_ms));
    if (status->healthy)
        (void)printf("health:     good\n");
    else
        (void)printf("health:     %s\n", escaped(status->problem));
    (void)printf("legs:       %llu running, %llu since the start, %llu slots ready\n",
        (unsigned long long)status->legs_running, (unsigned long long)status->legs_since_start,
        (unsigned long long)status->slots_ready);
    if (status->denials_heard)
        (void)printf("denials:    heard; %llu told, %llu lost, %llu of no leg for certain\n",
            (unsigned long long)status->denials_told, (unsigned long long)status->denials_lost,
            (unsigned long long)status->denials_unjoined);
    else
        (void)printf("denials:    those of Landlock are not heard (rung landlock-audit)\n");
    (void)printf("kernel:     %s\n", escaped(status->kernel));
    (void)printf("socket:     %s\n", escaped(status->socket));
    (void)printf("state:      %s\n", escaped(status->state_directory));
}

static void print_rung(const struct saphan_rung *rung)
{
    (void)printf(
        "%-20s %-11s %s", escaped(rung->slug), escaped(rung->state), escaped(rung->meaning));
    if (rung->value != 0)
        (void)printf(" [%lld]", (long long)rung->value);
    (void)putchar('\n');
    if (rung->detail[0])
        (void)printf("%-32s %s\n", "", escaped(rung->detail));
}

static void print_field(const char *name, const char *value)
{
    if (value[0])
        (void)printf("  %-11s %s\n", name, escaped(value));
}

static void print_rule(const struct saphan_rule *rule)
{
    (void)printf("rule %s (%s)\n", escaped(rule->name), escaped(rule->file));
    print_field("boundaries:", rule->boundaries);
    print_field("views:", rule->views);
    print_field("nets:", rule->nets);
    print_field("vendors:", rule->vendors);
    print_field("read:", rule->read);
    print_field("write:", rule->write);
    if (rule->hosts[0])
        print_field("hosts:", rule->hosts);
    print_field("capabilities:", rule->capabilities);
    print_field("limits:", rule->limits);
}

static int print_event(void *context, const struct saphan_event *event)
{
    struct listing *listing = context;

    if (event->kind != listing->last && listing->last != 0)
        (void)putchar('\n');
    listing->last = event->kind;
    if (event->kind == SAPHAN_EVENT_STATUS) {
        listing->healthy = event->status.healthy;
        print_daemon(&event->status);
    } else if (event->kind == SAPHAN_EVENT_RUNG) {
        print_rung(&event->rung);
    } else if (event->kind == SAPHAN_EVENT_RULE) {
        print_rule(&event->rule);
    }
    return 0;
}

static int show(void)
{
    struct saphan *saphan = ask_connect();
    struct listing listing = {.healthy = false};
    struct saphan_error error;
    int asked, status;

    if (!saphan)
        return EXIT_OURS;
    asked = saphan_status(saphan, NULL, &error);
    status = ask_to_the_end(saphan, asked, &error, print_event, &listing);
    if (status == 0 && !listing.healthy)
        return say("saphand is not healthy");
    return status;
}

int verb_status(int argc, char **argv)
{
    struct options line = {.verb = "saphan status", .argc = argc, .argv = argv};
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_WORD)
            return say("status: %s: no word is wanted here", escaped(value));
        return id == OPTIONS_ERROR ? EXIT_OURS : print_text(help, strlen(help));
    }
    return show();
}
