#include "matrix.h"

#include "own.h"
#include "text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
    const char *slug, *meaning;
} arm_words[ARM_COUNT] = {
    [ARM_ECHO] = {"echo", "/bin/echo in the same boundary"},
    [ARM_WRITE] = {"write", "a write inside the grant, read back from outside"},
    [ARM_OUTSIDE] = {"outside", "a write outside of the grants is refused"},
    [ARM_GRANDCHILD] = {"grandchild", "the same write from a grandchild, two execs down"},
    [ARM_TURN] = {"turn", "the vendor's turn inside the boundary, its artefact checked"},
    [ARM_CONTROL] = {"control", "the same turn outside of it, the vendor's own sandbox on"},
};

static const char *const outcome_names[OUTCOME_COUNT] = {
    [OUTCOME_BLANK] = "blank",
    [OUTCOME_RUNNING] = "running",
    [OUTCOME_HELD] = "held",
    [OUTCOME_LOUD] = "failed",
    [OUTCOME_SILENT] = "SILENT",
    [OUTCOME_WITHOUT] = "without-its-sandbox",
    [OUTCOME_HUNG] = "hung",
    [OUTCOME_REFUSED] = "refused",
    [OUTCOME_LOST] = "lost",
    [OUTCOME_UNRUNNABLE] = "unrunnable",
};

static const char *const verdict_names[] = {
    [CELL_BLANK] = "BLANK",
    [CELL_NESTS] = "NESTS",
    [CELL_COLLIDES] = "COLLIDES",
    [CELL_HANGS] = "HANGS",
    [CELL_INDETERMINATE] = "INDETERMINATE",
};

const char *arm_slug(enum arm arm)
{
    return (size_t)arm < ARM_COUNT ? arm_words[arm].slug : "?";
}

const char *arm_meaning(enum arm arm)
{
    return (size_t)arm < ARM_COUNT ? arm_words[arm].meaning : "?";
}

const char *outcome_name(enum arm_outcome outcome)
{
    return (size_t)outcome < OUTCOME_COUNT ? outcome_names[outcome] : "?";
}

const char *cell_verdict_name(enum cell_verdict verdict)
{
    return (size_t)verdict < array_size(verdict_names) ? verdict_names[verdict] : "?";
}

int outcome_parse(const char *name, enum arm_outcome *ret)
{
    for (size_t i = 0; i < OUTCOME_COUNT; i++) {
        if (text_equal(outcome_names[i], name)) {
            *ret = (enum arm_outcome)i;
            return 0;
        }
    }
    return -EINVAL;
}

int cell_verdict_parse(const char *name, enum cell_verdict *ret)
{
    for (size_t i = 0; i < array_size(verdict_names); i++) {
        if (text_equal(verdict_names[i], name)) {
            *ret = (enum cell_verdict)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* ---- one leg ---- */

static bool has(const struct arm_leg *leg, enum reason reason)
{
    for (uint32_t i = 0; i < leg->n_reasons; i++) {
        if (leg->reasons[i] == reason)
            return true;
    }
    return false;
}

static bool lacks_artefact(const struct arm_leg *leg)
{
    static const enum reason reasons[] = {REASON_ARTEFACT_ABSENT, REASON_ARTEFACT_TOO_SMALL,
        REASON_ARTEFACT_NOT_REGULAR, REASON_ARTEFACT_UNREADABLE, REASON_ARTEFACT_UNCHANGED,
        REASON_ARTEFACT_WRONG_HASH, REASON_ARTEFACT_PRIVATE};

    for (size_t i = 0; i < array_size(reasons); i++) {
        if (has(leg, reasons[i]))
            return true;
    }
    return false;
}

enum arm_outcome arm_judge(const struct arm_leg *leg)
{
    bool ended_well =
        leg->wait_status >= 0 && WIFEXITED(leg->wait_status) && WEXITSTATUS(leg->wait_status) == 0;

    switch (leg->colour) {
    case COLOUR_GREEN:
        return OUTCOME_HELD;
    case COLOUR_REFUSED:
        return OUTCOME_REFUSED;
    case COLOUR_RED:
        break;
    default:
        return OUTCOME_LOST;
    }
    if (has(leg, REASON_WALL_TIME))
        return OUTCOME_HUNG;
    if (has(leg, REASON_CLIENT_GONE) || has(leg, REASON_DAEMON_STOPPED) ||
        has(leg, REASON_KILLED_BY_REQUEST))
        return OUTCOME_LOST;
    if (!ended_well)
        return OUTCOME_LOUD;
    if (lacks_artefact(leg))
        return OUTCOME_SILENT;
    return has(leg, REASON_NESTED_SANDBOX) ? OUTCOME_WITHOUT : OUTCOME_LOUD;
}

/* ---- the cell ---- */

static void find(struct cell_finding *ret, enum cell_verdict verdict, enum arm arm,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

static void find(
    struct cell_finding *ret, enum cell_verdict verdict, enum arm arm, const char *format, ...)
{
    va_list args;

    *ret = (struct cell_finding){.verdict = verdict, .arm = arm};
    va_start(args, format);
    (void)vsnprintf(ret->why, sizeof(ret->why), format, args);
    va_end(args);
}

static const char *detail_of(const struct arm_facts *arm)
{
    return arm->detail && arm->detail[0] ? arm->detail : "no more is known";
}

/* True when ARM says nothing, or not yet; *RET says so. */
static bool is_open(const struct arm_facts *arms, enum arm arm, struct cell_finding *ret)
{
    switch (arms[arm].outcome) {
    case OUTCOME_RUNNING:
        find(ret, CELL_INDETERMINATE, arm,
            "interrupted in arm %d (%s): it was begun, and nobody "
            "said how it ended",
            arm, arm_slug(arm));
        return true;
    case OUTCOME_BLANK:
        find(ret, CELL_INDETERMINATE, arm, "arm %d (%s) was never begun", arm, arm_slug(arm));
        return true;
    case OUTCOME_LOST:
        find(ret, CELL_INDETERMINATE, arm, "arm %d (%s): the means to know were lost: %s", arm,
            arm_slug(arm), detail_of(&arms[arm]));
        return true;
    default:
        return false;
    }
}

static bool failed(enum arm_outcome outcome)
{
    return outcome == OUTCOME_LOUD || outcome == OUTCOME_SILENT || outcome == OUTCOME_WITHOUT ||
           outcome == OUTCOME_HUNG;
}

/* Our own controls: true when all of them held. */
static bool judge_baseline(const struct arm_facts *arms, struct cell_finding *ret)
{
    for (enum arm arm = ARM_ECHO; arm < ARM_TURN; arm++) {
        if (is_open(arms, arm, ret))
            return false;
        if (arms[arm].outcome == OUTCOME_HELD)
            continue;
        find(ret, CELL_INDETERMINATE, arm,
            "control %d (%s) %s, so nothing is said of the vendor: %s", arm, arm_slug(arm),
            outcome_name(arms[arm].outcome), detail_of(&arms[arm]));
        return false;
    }
    return true;
}

static void judge_collision(const struct arm_facts *turn, struct cell_finding *ret)
{
    switch (turn->outcome) {
    case OUTCOME_HUNG:
        find(ret, CELL_HANGS, ARM_TURN, "it hung inside the boundary and not outside of it: %s",
            detail_of(turn));
        return;
    case OUTCOME_SILENT:
        find(ret, CELL_COLLIDES, ARM_TURN,
            "SILENT: it ended with 0 and the artefact is not there; outside of the boundary it "
            "is: %s",
            detail_of(turn));
        ret->silent = true;
        return;
    case OUTCOME_WITHOUT:
        find(ret, CELL_COLLIDES, ARM_TURN,
            "its own sandbox was refused and it went on without it: %s", detail_of(turn));
        return;
    default:
        find(ret, CELL_COLLIDES, ARM_TURN,
            "loud: it failed inside the boundary and not outside of it: %s", detail_of(turn));
    }
}

static void judge_turn(
    const struct arm_facts *turn, const struct arm_facts *control, struct cell_finding *ret)
{
    bool held = turn->outcome == OUTCOME_HELD;

    if (control->outcome == OUTCOME_HELD && held)
        find(ret, CELL_NESTS, ARM_TURN, "all arms held");
    else if (control->outcome == OUTCOME_HELD)
        judge_collision(turn, ret);
    else if (!held && failed(control->outcome) && control->outcome == turn->outcome)
        find(ret, CELL_INDETERMINATE, ARM_CONTROL,
            "control 5 (control) %s as the turn did: the boundary adds nothing here: %s",
            outcome_name(control->outcome), detail_of(control));
    else
        find(ret, CELL_INDETERMINATE, ARM_CONTROL,
            "control 5 (control) %s while the turn inside %s: %s", outcome_name(control->outcome),
            outcome_name(turn->outcome), detail_of(control));
}

void cell_judge(const struct arm_facts arms[ARM_COUNT], struct cell_finding *ret)
{
    if (!judge_baseline(arms, ret))
        return;
    if (is_open(arms, ARM_TURN, ret))
        return;
    if (arms[ARM_TURN].outcome == OUTCOME_REFUSED || arms[ARM_TURN].outcome == OUTCOME_UNRUNNABLE) {
        find(ret, CELL_INDETERMINATE, ARM_TURN, "the turn was never started: %s",
            detail_of(&arms[ARM_TURN]));
        return;
    }
    if (is_open(arms, ARM_CONTROL, ret))
        return;
    judge_turn(&arms[ARM_TURN], &arms[ARM_CONTROL], ret);
}

/* ---- freshness ---- */

static bool differs(const char *a, const char *b)
{
    return a && b && *a && *b && !text_equal(a, b);
}

bool cell_is_fresh(
    const struct cell_ground *then, const struct cell_ground *now, char why[CELL_STALE_MAX])
{
    why[0] = '\0';
    if (differs(then->kernel, now->kernel))
        (void)snprintf(
            why, CELL_STALE_MAX, "the kernel was %.70s and is %.70s", then->kernel, now->kernel);
    else if (differs(then->version, now->version))
        (void)snprintf(why, CELL_STALE_MAX, "the boundary was saphan %.60s's and is %.60s's",
            then->version, now->version);
    else if (differs(then->vendor_version, now->vendor_version))
        (void)snprintf(why, CELL_STALE_MAX, "the vendor was %.70s and is %.70s",
            then->vendor_version, now->vendor_version);
    else if (differs(then->program, now->program))
        (void)snprintf(why, CELL_STALE_MAX, "the vendor's program is another file since");
    return why[0] == '\0';
}
