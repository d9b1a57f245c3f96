/* verdict.c - from how a leg ended to what is said of it.
 *
 * Reasons are gathered in the order of what explains what: that we lost sight, that we killed the
 * leg, what the kernel held it to, how its first process ended, what it left.  The signal of our
 * own kill is no news and is left out; a status that the program still gave itself is said.
 */
#include "verdict.h"

#include "own.h"
#include <signal.h>
#include <sys/wait.h>

#define STATUS_RED 112  /* RED although the program exited 0 */
#define STATUS_WALL 124 /* as timeout(1) */
#define STATUS_OURS 125 /* as env(1) and timeout(1): our own failure */

static void say(struct verdict *verdict, enum reason reason)
{
    if (reason <= REASON_NONE || reason >= REASON_COUNT)
        return;
    for (uint32_t i = 0; i < verdict->n_reasons; i++) {
        if (verdict->reasons[i] == reason)
            return;
    }
    if (verdict->n_reasons < VERDICT_REASONS_MAX)
        verdict->reasons[verdict->n_reasons++] = reason;
}

static bool has_status(const struct ending *ending)
{
    return ending->exited && WIFEXITED(ending->wait_status);
}

static bool has_signal(const struct ending *ending)
{
    return ending->exited && WIFSIGNALED(ending->wait_status);
}

static bool killed_by_us(const struct ending *ending)
{
    return ending->killed != REASON_NONE || ending->output_exceeded;
}

static void gather(const struct ending *ending, struct verdict *verdict)
{
    bool reported = !ending->stub_lost && (has_status(ending) || has_signal(ending));

    /* A stub that we killed, or the kernel for the leg's memory, has no report to give.  A report
     * that no wait status can be is none. */
    if (!reported && !killed_by_us(ending) && ending->oom_kills == 0)
        say(verdict, REASON_STUB_LOST);
    say(verdict, ending->killed);
    if (ending->nested)
        say(verdict, REASON_NESTED_SANDBOX);
    if (ending->output_exceeded)
        say(verdict, REASON_OUTPUT_LIMIT);
    if (ending->oom_kills > 0)
        say(verdict, REASON_OUT_OF_MEMORY);
    if (ending->tasks_hits > 0)
        say(verdict, REASON_TASKS_LIMIT);
    if (has_status(ending) && WEXITSTATUS(ending->wait_status) != 0)
        say(verdict, REASON_EXIT_STATUS);
    if (ending->budget)
        say(verdict, REASON_VENDOR_BUDGET);
    if (has_signal(ending) && !killed_by_us(ending))
        say(verdict, REASON_KILLED_BY_SIGNAL);
    if (ending->rewritten)
        say(verdict, REASON_PROFILE_REWRITTEN);
    if (ending->checker_failed)
        say(verdict, REASON_CHECKER_FAILED);
    for (uint32_t i = 0; i < ending->n_artefacts && i < array_size(ending->artefacts); i++)
        say(verdict, ending->artefacts[i]);
}

static enum colour worst(const struct verdict *verdict)
{
    enum colour colour = COLOUR_GREEN;

    for (uint32_t i = 0; i < verdict->n_reasons; i++) {
        enum colour mine = reason_entry(verdict->reasons[i])->colour;

        if (mine == COLOUR_INDETERMINATE)
            return mine;
        if (mine != COLOUR_UNSET && mine != COLOUR_NOTE)
            colour = COLOUR_RED;
    }
    return colour;
}

static int32_t status_of(const struct ending *ending, enum colour colour)
{
    if (colour == COLOUR_GREEN)
        return 0;
    if (colour == COLOUR_INDETERMINATE)
        return STATUS_OURS;
    if (ending->killed == REASON_WALL_TIME)
        return STATUS_WALL;
    if (has_status(ending))
        return WEXITSTATUS(ending->wait_status) ? WEXITSTATUS(ending->wait_status) : STATUS_RED;
    /* cgroup.kill is SIGKILL, whether or not somebody was left to report it. */
    return 128 + (has_signal(ending) ? WTERMSIG(ending->wait_status) : SIGKILL);
}

void verdict_compose(const struct ending *ending, struct verdict *ret)
{
    struct verdict verdict = {0};

    gather(ending, &verdict);
    verdict.colour = worst(&verdict);
    verdict.client_status = status_of(ending, verdict.colour);
    *ret = verdict;
}
