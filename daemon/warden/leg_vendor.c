/* leg_vendor.c - a leg and its vendor's profile: what the command would do, before it is admitted,
 * and what a refused call means, while it runs. */
#include "leg.h"
#include "vendors.h"
#include "versions.h"

#include "fault.h"
#include "steps.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void leg_vendor_done(struct leg *leg)
{
    free(leg->vendor.env);
    free(leg->vendor.directory);
    free(leg->vendor.names);
    leg_program_done(&leg->vendor.program);
    leg_places_done(leg);
    vendors_release(leg->vendor.set);
    leg->vendor = (struct leg_vendor){.program = {.file = -EBADF}};
}

/* The strings stay the message's, which lives as long as the leg. */
static int list_of(const struct leg *leg, struct seam_list list, const char ***ret)
{
    const char **strings = calloc((size_t)list.count + 1, sizeof(*strings));
    const char *at = seam_list_first(&leg->ask, list);

    if (!strings)
        return -ENOMEM;
    for (uint32_t i = 0; i < list.count; i++, at = seam_list_next(at))
        strings[i] = at;
    *ret = strings;
    return 0;
}

static int make_command(struct leg *leg)
{
    struct leg_vendor *vendor = &leg->vendor;
    int r = list_of(leg, leg->run->env, &vendor->env);

    if (r < 0)
        return r;
    vendor->command = (struct nesting_command){
        .argv = leg->argv, .argc = leg->argc, .env = vendor->env, .n_env = leg->run->env.count};
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (leg->request.grants[i].kind == GRANT_SEAT)
            vendor->command.seat = grant_place(&leg->request.grants[i]);
        if (leg->request.grants[i].kind == GRANT_WORKSPACE)
            vendor->command.workspace = grant_place(&leg->request.grants[i]);
    }
    vendor->directory = join_normal("/", leg->request.chdir          ? leg->request.chdir
                                         : vendor->command.workspace ? vendor->command.workspace
                                                                     : "/");
    return vendor->directory ? 0 : -ENOMEM;
}

static void seat_made(void *context, int result)
{
    struct leg *leg = context;
    const struct fault *fault = &leg->build_fault;

    leg->errand = NULL;
    if (result < 0)
        leg_fail(leg, STEP_OPEN, -result, "the seat home");
    else if (fault->step != 0)
        leg_fail(leg, fault->step, fault->error, fault->subject);
    else if (leg_name_added_grants(leg, leg->vendor.first_part) == 0)
        version_know(leg);
}

static bool is_refused(struct leg *leg)
{
    auto_free struct decision *decision = calloc(1, sizeof(*decision));
    struct usage usage = {0};
    bool refused = true;

    if (!decision)
        return true;
    admit(&leg->request, &leg->peer, &leg->warden->policy, &leg->warden->machine, &usage, decision);
    refused = decision->n_refusals > 0;
    decision_done(decision);
    return refused;
}

/* A leg that is refused anyway makes nothing, and starts no other to say its version.  What the
 * seat's parts will be is not known yet: it counts with none of them, and with all. */
static bool would_be_refused(struct leg *leg)
{
    int seat = leg_seat(leg);
    enum grant_kind kind = seat < 0 ? GRANT_SEAT : leg->request.grants[seat].kind;
    bool refused = is_refused(leg);

    if (!refused || kind == GRANT_SEAT)
        return refused;
    leg->request.grants[seat].kind = GRANT_SEAT;
    refused = is_refused(leg);
    leg->request.grants[seat].kind = kind;
    return refused;
}

static void make_seat(struct leg *leg)
{
    int seat = leg_seat(leg), r;
    bool narrow = seat >= 0 && leg->request.grants[seat].kind == GRANT_SEAT_READ;

    if ((!narrow && !version_is_asked(leg)) || would_be_refused(leg)) {
        leg_vendor_known(leg);
        return;
    }
    r = leg_make_seat(leg, seat_made);
    if (r < 0)
        leg_fail(leg, STEP_OPEN, -r, "the seat home");
    else if (r == 0)
        version_know(leg);
}

static void judge(struct leg *leg)
{
    struct leg_vendor *vendor = &leg->vendor;
    uint32_t first = 0;

    nesting_judge(leg->request.profile, &vendor->command, vendor->answers, vendor->n_questions,
        &vendor->nesting);
    if (vendor->says) /* saying its version builds no sandbox; one that is tried is RED all the same
                       */
        vendor->nesting = (struct nesting){0};
    leg->request.nesting = &vendor->nesting;
    if (vendor_files_steering(vendor->files, vendor->before, vendor->n_files, &first) > 0) {
        leg_file_steers(leg, first, vendor->steered, sizeof(vendor->steered));
        leg->request.steered = vendor->steered;
    }
    make_seat(leg);
}

static void files_unreadable(struct leg *leg, int error)
{
    if (fault_is_shortage(error))
        leg_fail(leg, STEP_OPEN, error, "the vendor's settings");
    else
        leg_refuse(leg, REASON_SETTINGS_UNREADABLE, fault_errno_name(error));
}

static void files_read(void *context, int result)
{
    struct leg *leg = context;

    leg->errand = NULL;
    if (result < 0)
        files_unreadable(leg, -result);
    else
        judge(leg);
}

static void ask_files(struct leg *leg)
{
    struct leg_vendor *vendor = &leg->vendor;
    int r;

    vendor->n_questions =
        nesting_questions(leg->request.profile, &vendor->command, vendor->questions);
    r = leg_find_places(leg);
    if (r == 0)
        r = vendor_files(leg->request.profile, &vendor->command, vendor->n_places, vendor->files);
    if (r >= 0) {
        vendor->n_files = (uint32_t)r;
        r = leg_read_files(leg, files_read);
    }
    if (r < 0)
        files_unreadable(leg, -r);
    else if (r == 0)
        judge(leg);
}

static void program_found(void *context, int result)
{
    struct leg *leg = context;

    leg->errand = NULL;
    if (result < 0)
        leg_fail(leg, STEP_OPEN, -result, "the way to the vendor's program");
    else if (leg_program_found(leg))
        ask_files(leg);
}

void leg_look_at_vendor(struct leg *leg)
{
    struct leg_vendor *vendor = &leg->vendor;
    const char *name = leg->request.vendor;
    int r;

    vendor->set = vendors_hold(leg->warden->vendors);
    leg->request.profile = vendors_find(vendor->set, name && *name ? name : "proc");
    if (!leg->request.profile) {
        vendor->names = vendors_names(vendor->set);
        leg->request.known_vendors = vendor->names;
        leg_vendor_known(leg);
        return;
    }
    if (make_command(leg) < 0) {
        leg_refuse(leg, REASON_OUT_OF_RESOURCES, "memory");
        return;
    }
    leg_narrow_seat(leg);
    r = leg_find_program(leg, program_found);
    if (r < 0)
        leg_fail(leg, STEP_OPEN, -r, "the opener");
    else if (r == 0)
        ask_files(leg);
}

void leg_vendor_admitted(struct leg *leg)
{
    leg->vendor.nested = leg->decision.rule->nested;
    leg->vendor.rewritten_red = leg->decision.rule->rewritten_red;
}

void leg_vendor_ended(struct leg *leg)
{
    const struct profile *profile = leg->request.profile;
    const struct profile_budget *budget;
    char *text = leg->vendor.budget;
    size_t at = 0, size = sizeof(leg->vendor.budget);

    if (!profile || !leg->ending.exited || !WIFEXITED(leg->ending.wait_status))
        return;
    budget = profile_budget_of(profile, leg->argv, leg->vendor.command.argc,
        (unsigned int)WEXITSTATUS(leg->ending.wait_status));
    if (!budget)
        return;
    at = (size_t)snprintf(text, size, "status %u %s of %.32s: %.32s",
        (unsigned int)budget->exit_status, budget->uncertain ? "may mean a budget" : "is a budget",
        profile->name, budget->name);
    for (uint32_t i = 0; i < budget->flags.count && at + 1 < size; i++)
        at += (size_t)snprintf(
            text + at, size - at, "%s%.32s", i ? ", " : "; set by ", budget->flags.list[i]);
    if (budget->uncertain)
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, NULL, text);
    else
        leg->ending.budget = true;
}

/* A probe is one only where the sandbox is known to be off: on, the same call is its first step. */
static bool is_probe(const struct leg *leg, const struct seam_message *message)
{
    const struct seam_told *told = message->fixed;
    const char *call = seam_text(message, told->event.subject);
    const char *comm = seam_text(message, told->comm);

    return leg->request.profile && leg->vendor.nesting.sandbox == SANDBOX_OFF && call && comm &&
           nesting_is_probe(leg->request.profile, call, told->flags, comm);
}

enum reason leg_vendor_called(struct leg *leg, const struct seam_message *message)
{
    const struct seam_told *told = message->fixed;
    const char *call = seam_text(message, told->event.subject);
    const char *who = seam_text(message, told->event.detail);
    struct leg_vendor *vendor = &leg->vendor;

    if (is_probe(leg, message))
        return REASON_NESTED_PROBE;
    if (vendor->nested == NESTED_NOTE)
        return REASON_NESTED_SANDBOX;
    leg->ending.nested = true;
    if (!vendor->first_nested[0])
        (void)snprintf(vendor->first_nested, sizeof(vendor->first_nested), "%s %s",
            call ? call : "?", who ? who : "");
    return REASON_NESTED_SANDBOX;
}
