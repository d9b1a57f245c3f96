/* saphan run: one leg, from the command line to its verdict. */
#include "advice.h"
#include "answering.h"
#include "interrupt.h"
#include "json_report.h"
#include "own.h"
#include "progress.h"
#include "run_options.h"
#include "say.h"
#include "text_report.h"
#include "verbs.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct watch {
    struct saphan *saphan;
    struct saphan *killer; /* saphand answers one request of a connection at a time */
    const struct run_options *options;
    int argc; /* the command line as it was given */
    char *const *argv;
    uint64_t request, leg;
    int signal; /* what ended our waiting, or 0 */
    struct progress progress;
    struct text_report text;
    struct json_report json;
};

static void watch_done(struct watch *watch)
{
    progress_clear(&watch->progress);
    text_report_done(&watch->text);
    saphan_close(watch->saphan); /* a leg that still runs ends with it */
    saphan_close(watch->killer);
}

#define auto_watch __attribute__((cleanup(watch_done)))

static int failed(const struct watch *watch, const struct saphan_error *error)
{
    if (watch->options->json)
        (void)json_report_failed(error);
    return say("%s", error->message);
}

/* The first signal has the leg killed and its verdict awaited; a second one does not wait.  < 0: go
 * on. */
static int on_signal(struct watch *watch)
{
    int number = interrupt_take();
    struct saphan_error error;

    if (number == 0)
        return -1;
    progress_clear(&watch->progress);
    if (watch->signal != 0 || watch->leg == 0) {
        if (watch->options->run.detach)
            (void)say("interrupted before saphand answered: see `saphan legs`");
        return 128 + number;
    }
    watch->signal = number;
    if (saphan_connect(NULL, &watch->killer, &error) != 0 ||
        saphan_kill(watch->killer, watch->leg, NULL, &error) != 0)
        return 128 + number; /* the end of our connection kills it too, without a verdict */
    return -1;
}

static bool has_reason(const struct saphan_event *event, const char *slug)
{
    bool refused = event->kind == SAPHAN_EVENT_REFUSED;
    const struct saphan_reason *reasons = refused ? event->refused.reasons : event->verdict.reasons;
    size_t count = refused ? event->refused.n_reasons : event->verdict.n_reasons;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(reasons[i].slug, slug) == 0)
            return true;
    }
    return false;
}

static char *advise(const struct watch *watch, const struct saphan_event *event)
{
    const struct run_options *options = watch->options;

    if (has_reason(event, "cell-unmeasured") || has_reason(event, "cell-collides"))
        return advice_for_measuring(watch->argc, watch->argv);
    if (!has_reason(event, "command-not-found") || options->run.image || !options->run.argv[0])
        return NULL;
    return advice_for_program(
        &options->run, options->run.directory ? options->run.directory : options->workspace);
}

static int ended(struct watch *watch, const struct saphan_event *event)
{
    const struct run_options *options = watch->options;
    auto_free char *advice = advise(watch, event);
    int status = event->kind == SAPHAN_EVENT_REFUSED ? event->refused.client_status
                                                     : event->verdict.client_status;
    int r = 0;

    if (options->json)
        r = json_report_event(&watch->json, event, advice);
    /* Standard error is free for it: no program of the leg's wrote there. */
    if (!options->json || event->kind == SAPHAN_EVENT_REFUSED)
        text_report_end(&watch->text, event, advice);
    if (r != 0)
        return r;
    if (watch->signal != 0)
        return 128 + watch->signal;
    /* A refusal is never a status that a program might have had, whatever came over the wire. */
    if (event->kind == SAPHAN_EVENT_REFUSED && (status < EXIT_OURS || status > 127))
        return EXIT_OURS;
    return status >= 0 && status <= 255 ? status : EXIT_OURS;
}

static int detached(const struct watch *watch)
{
    char line[32];
    int r;

    if (watch->options->json)
        return 0;
    (void)snprintf(line, sizeof(line), "%llu\n", (unsigned long long)watch->leg);
    r = print_text(line, strlen(line));
    (void)say("leg %llu runs on: `saphan leg show %llu`, `saphan leg logs %llu`",
        (unsigned long long)watch->leg, (unsigned long long)watch->leg,
        (unsigned long long)watch->leg);
    return r;
}

/* Returns the status to end with; < 0: go on. */
static int on_event(struct watch *watch, const struct saphan_event *event)
{
    int r = 0;

    if (event->kind == SAPHAN_EVENT_VERDICT || event->kind == SAPHAN_EVENT_REFUSED)
        return ended(watch, event);
    if (event->kind > SAPHAN_EVENT_OUTPUT && event->kind < SAPHAN_EVENT_CONNECTED)
        return say("saphand answered what was not asked");
    if (event->kind == SAPHAN_EVENT_ACCEPTED && watch->leg != 0)
        return -1; /* the row's own event: already said */
    if (event->kind == SAPHAN_EVENT_ACCEPTED) {
        watch->leg = event->leg;
        watch->progress.accepted = true;
    }
    if (event->kind != SAPHAN_EVENT_ACCEPTED)
        watch->progress.over = true;
    if (watch->options->json)
        r = json_report_event(&watch->json, event, NULL);
    else if (event->kind != SAPHAN_EVENT_OUTPUT)
        text_report_event(&watch->text, event);
    if (r != 0)
        return r;
    return event->last ? detached(watch) : -1;
}

static int follow(struct watch *watch)
{
    struct saphan_event event;
    struct saphan_error error;
    int status = -1, r;

    while (status < 0) {
        r = saphan_next(
            watch->saphan, progress_timeout(&watch->progress), interrupt_mask(), &event, &error);
        if (r == SAPHAN_E_TIMEOUT) {
            progress_show(&watch->progress);
            continue;
        }
        if (r == -EINTR) {
            status = on_signal(watch);
            continue;
        }
        progress_clear(&watch->progress);
        status = r != 0 ? failed(watch, &error) : on_event(watch, &event);
    }
    return status;
}

/* Opening what hangs would hold this program too, and not even a signal would end it. */
static void await_paths(const struct run_options *options)
{
    size_t count = options->run.n_grants;
    auto_free const char **paths = calloc(count + 1, sizeof(*paths));

    if (!paths)
        return; /* whoever opens them finds out */
    for (size_t i = 0; i < count; i++)
        paths[i] = options->run.grants[i].path;
    if (options->run.directory && !options->run.image)
        paths[count++] = options->run.directory;
    await_answers(paths, count);
}

int verb_run(int argc, char **argv)
{
    auto_run_options struct run_options options = {0};
    auto_watch struct watch watch = {.options = &options, .argc = argc, .argv = argv};
    struct saphan_error error;
    int status;

    run_options_parse(&options, argc, argv, &status);
    if (status >= 0)
        return status;
    watch.progress.over = options.json;
    await_paths(&options);
    (void)signal(SIGPIPE, SIG_IGN); /* a reader that goes away is seen as EPIPE */
    if (saphan_connect(NULL, &watch.saphan, &error) != 0 ||
        saphan_run(watch.saphan, &options.run, &watch.request, &error) != 0)
        return failed(&watch, &error);
    interrupt_watch();
    return follow(&watch);
}
