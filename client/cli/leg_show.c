/* saphan leg show: a leg's row, what it told, and its verdict. */
#include "ending_words.h"
#include "leg_word.h"
#include "say.h"
#include "verbs.h"
#include <stdio.h>
#include <string.h>

static const struct leg_word word = {
    .verb = "saphan leg show",
    .help = "usage: saphan leg show ID\n"
            "\n"
            "Shows the leg's row, what it told while it ran, and its verdict.\n",
};

static void print_limit(const char *name, uint64_t value)
{
    if (value != 0)
        (void)printf(" %s=%llu", name, (unsigned long long)value);
}

static void print_limits(const struct saphan_limits *limits)
{
    static const struct saphan_limits none;

    if (memcmp(limits, &none, sizeof(none)) == 0)
        return;
    (void)printf("limits:    ");
    print_limit("tasks", limits->tasks);
    print_limit("memory", limits->memory);
    print_limit("cpu", limits->cpu_percent);
    if (limits->wall_ms != 0)
        (void)printf(" wall=%llums", (unsigned long long)limits->wall_ms);
    print_limit("output", limits->output);
    print_limit("files", limits->files);
    (void)putchar('\n');
}

static void print_row(const struct saphan_event *event)
{
    const struct saphan_leg *leg = &event->row;
    char ended[64];

    (void)printf("leg:        %llu\n", (unsigned long long)event->leg);
    (void)printf("state:      %s\n", saphan_leg_state_name(leg->state));
    if (leg->state == SAPHAN_LEG_ENDED)
        (void)printf("verdict:    %s%s%s\n", saphan_colour_name(leg->colour),
            *leg->reasons ? " " : "", escaped(leg->reasons));
    ending_words(leg->exited, leg->wait_status, ended, sizeof(ended));
    if (leg->exited)
        (void)printf("ended:      %s\n", ended);
    (void)printf("user:       %s (%u)\n", escaped(leg->user), leg->uid);
    (void)printf("asked:      %s\n", time_text(leg->asked_ms));
    if (leg->ended_ms != 0)
        (void)printf("over:       %s\n", time_text(leg->ended_ms));
    (void)printf("boundary:   %s, view %s, net %s, vendor %s%s\n",
        saphan_boundary_name(leg->boundary), saphan_view_name(leg->view), saphan_net_name(leg->net),
        escaped(leg->vendor), leg->detach ? ", detached" : "");
    (void)printf("directory:  %s\n", escaped(leg->directory));
    (void)printf("command:   ");
    for (size_t i = 0; leg->argv[i]; i++)
        (void)printf(" %s", escaped(leg->argv[i]));
    (void)puts(leg->cut ? " ..." : "");
    for (size_t i = 0; leg->grants[i]; i++)
        (void)printf("grant:      %s\n", escaped(leg->grants[i]));
    print_limits(&leg->limits);
}

static void print_told(const struct saphan_event *event)
{
    const struct saphan_told *told = &event->told;
    char ended[64];

    (void)printf("%s  %-9s", time_text(event->at_ms), escaped(told->kind));
    if (told->subject[0])
        (void)printf(" %s", escaped(told->subject));
    if (told->reason[0])
        (void)printf(" %s", escaped(told->reason));
    if (event->kind == SAPHAN_EVENT_STARTED)
        (void)printf(" pid %lld", (long long)told->pid);
    if (event->kind == SAPHAN_EVENT_ARTEFACT && told->size >= 0)
        (void)printf(" %lld bytes", (long long)told->size);
    if (event->kind == SAPHAN_EVENT_EXITED) {
        ending_words(true, (int)told->wait_status, ended, sizeof(ended));
        (void)printf(" %s, cpu %lld.%03lld s, at most %lld bytes", ended,
            (long long)(told->cpu_us / 1000000), (long long)(told->cpu_us / 1000 % 1000),
            (long long)told->max_rss);
    }
    if (event->kind == SAPHAN_EVENT_DISCONNECTED)
        (void)printf(
            " %lld bytes out, %lld in", (long long)told->bytes_out, (long long)told->bytes_in);
    if (told->detail[0])
        (void)printf(" %s", escaped(told->detail));
    if (told->count > 1)
        (void)printf(" (%lld times in %lld ms)", (long long)told->count,
            (long long)(told->last_ms - told->first_ms));
    (void)putchar('\n');
}

static bool by_list(const struct saphan_verdict *verdict)
{
    for (size_t i = 0; i < verdict->n_claims; i++) {
        if (strcmp(verdict->claims[i].slug, "egress-listed") == 0)
            return true;
    }
    return false;
}

static void print_verdict(const struct saphan_verdict *verdict)
{
    for (size_t i = 0; i < verdict->n_reasons; i++) {
        const struct saphan_reason *reason = &verdict->reasons[i];

        (void)printf("reason:     %s: %s%s%s; %s\n", escaped(reason->slug), escaped(reason->detail),
            reason->detail[0] ? ": " : "", escaped(reason->meaning), escaped(reason->remedy));
    }
    for (size_t i = 0; i < verdict->n_claims; i++) {
        (void)printf("wall:       %s: %s; by", escaped(verdict->claims[i].slug),
            escaped(verdict->claims[i].meaning));
        for (size_t k = 0; verdict->claims[i].rungs[k]; k++)
            (void)printf(" %s", escaped(verdict->claims[i].rungs[k]));
        (void)putchar('\n');
    }
    if (!verdict->egress_cut && !by_list(verdict))
        (void)printf("egress:     not cut\n");
    if (verdict->kept[0])
        (void)printf("kept:       %s\n", escaped(verdict->kept));
}

static int print_event(void *context, const struct saphan_event *event)
{
    if (event->kind == SAPHAN_EVENT_LEG)
        print_row(event);
    else if (event->kind == SAPHAN_EVENT_VERDICT)
        print_verdict(&event->verdict);
    else if (event->kind <= SAPHAN_EVENT_OTHER || event->kind >= SAPHAN_EVENT_CONNECTED)
        print_told(event);
    return 0;
}

int verb_leg_show(int argc, char **argv)
{
    return leg_word_ask(&word, argc, argv, saphan_show, print_event);
}
