#include "text_report.h"

#include "descriptor.h"
#include "ending_words.h"
#include "say.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

void text_report_done(struct text_report *report)
{
    for (size_t i = 0; i < report->n_told; i++)
        free(report->told[i]);
    report->n_told = 0;
}

/* Some details are whole sentences, which begin with what they are about. */
static bool says_subject(const struct saphan_told *told)
{
    return strncmp(told->detail, told->subject, strlen(told->subject)) == 0;
}

void text_report_event(struct text_report *report, const struct saphan_event *event)
{
    const struct saphan_told *told = &event->told;
    char *line;

    if (event->kind != SAPHAN_EVENT_DENIED && event->kind != SAPHAN_EVENT_NOTE &&
        event->kind != SAPHAN_EVENT_DOOR)
        return;
    if (report->n_told == REPORT_TOLD_MAX) {
        report->more_told++;
        return;
    }
    if (event->kind == SAPHAN_EVENT_NOTE && says_subject(told))
        line = text_format("note: %s", escaped(told->detail));
    else if (event->kind == SAPHAN_EVENT_NOTE)
        line = text_format("note: %s%s%s", escaped(told->subject), told->subject[0] ? ": " : "",
            escaped(told->detail));
    else if (event->kind == SAPHAN_EVENT_DOOR)
        line = text_format("door: %s: %s", escaped(told->subject), escaped(told->detail));
    else
        line = text_format("denied: %s%s%s", escaped(told->subject), told->detail[0] ? ": " : "",
            escaped(told->detail));
    if (line)
        report->told[report->n_told++] = line;
}

static void print_reasons(FILE *out, const struct saphan_reason *reasons, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "saphan: %s: %s%s%s\n", escaped(reasons[i].slug),
            escaped(reasons[i].detail), reasons[i].detail[0] ? ": " : "",
            escaped(reasons[i].meaning));
        if (reasons[i].remedy[0])
            (void)fprintf(out, "saphan:     %s\n", escaped(reasons[i].remedy));
    }
}

static void print_told(FILE *out, const struct text_report *report)
{
    for (size_t i = 0; i < report->n_told; i++)
        (void)fprintf(out, "saphan: %s\n", report->told[i]);
    if (report->more_told > 0)
        (void)fprintf(out, "saphan: and %zu more: see `saphan leg show`\n", report->more_told);
}

/* What a leg wrote to this terminal may have left it writing in nothing that can be read. */
static void print_reset(FILE *out)
{
    static const char plain[] = "\033[0m\033(B\017"; /* no attribute, ASCII */
    const char *term = getenv("TERM");

    if (isatty(STDERR_FILENO) && term && term[0] && !text_equal(term, "dumb"))
        (void)fputs(plain, out);
}

static void print_colour(FILE *out, enum saphan_colour colour)
{
    static const char *const escapes[] = {"", "\033[32m", "\033[31m", "\033[33m", "\033[35m"};
    const char *no_colour = getenv("NO_COLOR");
    bool coloured = (!no_colour || !no_colour[0]) && (unsigned int)colour < array_size(escapes) &&
                    isatty(STDERR_FILENO);

    (void)fprintf(out, "saphan: %s%s%s", coloured ? escapes[colour] : "",
        saphan_colour_name(colour), coloured ? "\033[0m" : "");
}

static void print_slugs(FILE *out, const struct saphan_reason *reasons, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%s %s", i > 0 ? "," : "", escaped(reasons[i].slug));
}

static bool has_claim(const struct saphan_verdict *verdict, const char *slug)
{
    for (size_t i = 0; i < verdict->n_claims; i++) {
        if (text_equal(verdict->claims[i].slug, slug))
            return true;
    }
    return false;
}

static void print_verdict(FILE *out, const struct saphan_event *event)
{
    const struct saphan_verdict *verdict = &event->verdict;
    char ended[64];

    if (verdict->kept[0])
        (void)fprintf(out, "saphan: kept: %s: see `saphan leg logs %llu`\n", escaped(verdict->kept),
            (unsigned long long)event->leg);
    print_colour(out, verdict->colour);
    print_slugs(out, verdict->reasons, verdict->n_reasons);
    ending_words(verdict->exited, verdict->wait_status, ended, sizeof(ended));
    (void)fprintf(out, "; %s; %lld.%03lld s; leg %llu; walls:", ended,
        (long long)(verdict->wall_us / 1000000), (long long)(verdict->wall_us / 1000 % 1000),
        (unsigned long long)event->leg);
    for (size_t i = 0; i < verdict->n_claims; i++)
        (void)fprintf(out, " %s", escaped(verdict->claims[i].slug));
    if (verdict->n_claims == 0)
        (void)fputs(" none", out);
    (void)fputs(
        verdict->egress_cut || has_claim(verdict, "egress-listed") ? "\n" : "; egress: not cut\n",
        out);
}

void text_report_end(
    const struct text_report *report, const struct saphan_event *event, const char *advice)
{
    bool refused = event->kind == SAPHAN_EVENT_REFUSED;
    auto_free char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out) {
        (void)say("out of memory");
        return;
    }
    if (!refused)
        print_reset(out);
    print_told(out, report);
    if (refused)
        print_reasons(out, event->refused.reasons, event->refused.n_reasons);
    else
        print_reasons(out, event->verdict.reasons, event->verdict.n_reasons);
    if (advice)
        (void)fprintf(out, "saphan:     %s\n", advice);
    if (refused) {
        print_colour(out, SAPHAN_REFUSED);
        print_slugs(out, event->refused.reasons, event->refused.n_reasons);
        (void)fputs("; nothing was run\n", out);
    } else {
        print_verdict(out, event);
    }
    if (fclose(out) == 0)
        (void)descriptor_write_all(STDERR_FILENO, text, size);
}
