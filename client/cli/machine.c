/* saphan machine: this host's rungs as they were measured, or measured anew. */
#include "ask.h"
#include "fault.h"
#include "json.h"
#include "own.h"
#include "say.h"
#include "verb_options.h"
#include "verbs.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: saphan machine show [--json]\n"
    "       saphan machine probe-confinement [--json]\n"
    "\n"
    "Shows each rung of this machine: what was done, beside its control, and what came of it.\n"
    "  holds        it is enforced here\n"
    "  refused      the kernel said no: the call and errno stand beside it\n"
    "  absent       this kernel has no such thing\n"
    "  never-asked  nobody looked; that is not \"no\"\n"
    "  broken       the control beside it failed, or it hung: it says nothing\n"
    "probe-confinement measures it again first, for whom the policy lets (Measure=yes).\n"
    "Ends with 0 when it could be said.\n";

enum { MACHINE_HELP = 1, MACHINE_JSON };
static const struct option table[] = {
    {"--help", false, MACHINE_HELP}, {"-h", false, MACHINE_HELP}, {"--json", false, MACHINE_JSON}};

static void print_row(const struct saphan_machine *machine)
{
    (void)printf("host:         %s\n", escaped(machine->host));
    (void)printf("kernel:       %s\n", escaped(machine->kernel));
    (void)printf("distribution: %s\n", escaped(machine->distribution));
    (void)printf("boot:         %s\n", escaped(machine->boot_id));
    (void)printf("measured:     %s by saphan %s, in %llu ms", time_text(machine->at_ms),
        escaped(machine->version), (unsigned long long)(machine->took_us / 1000));
    if (machine->row)
        (void)printf(", row %llu", (unsigned long long)machine->row);
    (void)printf("\nagain:        %s\n\n", escaped(machine->command));
}

static void print_rung(const struct saphan_rung *rung)
{
    if (rung->facet[0])
        (void)printf(
            "  %-20s %-11s %s", escaped(rung->facet), escaped(rung->state), escaped(rung->detail));
    else
        (void)printf("%-22s %-11s %s", escaped(rung->slug), escaped(rung->state),
            rung->detail[0] ? escaped(rung->detail) : escaped(rung->meaning));
    if (rung->value != 0)
        (void)printf(" [%lld]", (long long)rung->value);
    (void)putchar('\n');
}

static void print_property(const struct saphan_property *property)
{
    (void)printf("\n%-22s %-11s %s\n%-34s %s\n", escaped(property->slug), escaped(property->state),
        escaped(property->meaning), "", escaped(property->detail));
}

static int json_row(const struct saphan_machine *machine)
{
    return json_line(json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
        JSON_SCHEMA_MACHINE, "event", "machine", "row", (json_int_t)machine->row, "at_ms",
        (json_int_t)machine->at_ms, "took_us", (json_int_t)machine->took_us, "host",
        json_text(machine->host), "kernel", json_text(machine->kernel), "distribution",
        json_text(machine->distribution), "boot_id", json_text(machine->boot_id), "version",
        json_text(machine->version), "command", json_text(machine->command)));
}

static int json_rung(const struct saphan_rung *rung)
{
    return json_line(json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "schema",
        JSON_SCHEMA_MACHINE, "event", "rung", "rung", json_text(rung->slug), "facet",
        rung->facet[0] ? json_text(rung->facet) : json_null(), "state", json_text(rung->state),
        "meaning", json_text(rung->meaning), "detail", json_text(rung->detail), "errno",
        rung->error ? json_string(fault_errno_name(rung->error)) : json_null(), "value",
        (json_int_t)rung->value));
}

static int json_property(const struct saphan_property *property)
{
    return json_line(json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "schema", JSON_SCHEMA_MACHINE,
        "event", "claim", "claim", json_text(property->slug), "state", json_text(property->state),
        "meaning", json_text(property->meaning), "detail", json_text(property->detail)));
}

static int take(void *context, const struct saphan_event *event)
{
    bool json = *(const bool *)context;

    switch (event->kind) {
    case SAPHAN_EVENT_MACHINE:
        if (json)
            return json_row(&event->machine);
        print_row(&event->machine);
        return 0;
    case SAPHAN_EVENT_RUNG:
        if (json)
            return json_rung(&event->rung);
        print_rung(&event->rung);
        return 0;
    case SAPHAN_EVENT_PROPERTY:
        if (json)
            return json_property(&event->property);
        print_property(&event->property);
        return 0;
    default:
        return 0;
    }
}

static int ask_machine(bool measure, bool json)
{
    struct saphan *saphan = ask_connect();
    struct saphan_error error;
    int asked;

    if (!saphan)
        return EXIT_OURS;
    asked = saphan_machine(saphan, measure, NULL, &error);
    return ask_to_the_end(saphan, asked, &error, take, &json);
}

int verb_machine(int argc, char **argv)
{
    struct options line = {.verb = "saphan machine", .argc = argc, .argv = argv};
    const char *word = NULL;
    bool json = false;
    char *value;
    int id;

    while ((id = options_next(&line, table, array_size(table), &value)) != OPTIONS_END) {
        if (id == OPTIONS_ERROR)
            return EXIT_OURS;
        if (id == MACHINE_HELP)
            return print_text(help, strlen(help));
        json = json || id == MACHINE_JSON;
        if (id != OPTIONS_WORD)
            continue;
        if (word)
            return say("machine: %s: one word is wanted", escaped(value));
        word = value;
    }
    if (!word || line.at < line.argc)
        return say("machine: wanted show or probe-confinement: see `saphan machine --help`");
    if (strcmp(word, "show") != 0 && strcmp(word, "probe-confinement") != 0)
        return say("machine: %s: wanted show or probe-confinement", escaped(word));
    return ask_machine(word[0] == 'p', json);
}
