#include "nesting.h"

#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int nesting_program(
    const struct profile *profile, const struct nesting_command *command, uint32_t *ret)
{
    for (uint32_t i = 0; i < command->argc; i++) {
        if (words_have(&profile->programs, base_name(command->argv[i]))) {
            *ret = i;
            return 0;
        }
    }
    return -ENOENT;
}

bool nesting_means(const struct words *words, const char *value)
{
    return words_have(words, "*") || words_have(words, value);
}

/* -- flags -- */

/* `KEY=VALUE` with KEY the one that is looked for; white space around `=` and quotes around the
 * value are TOML's and mean nothing here. */
static bool take_keyed(const char *text, const char *key, const char **ret_value)
{
    size_t length = strlen(key);

    text += strspn(text, " ");
    if (strncmp(text, key, length) != 0)
        return false;
    text += length;
    text += strspn(text, " ");
    if (*text != '=')
        return false;
    text++;
    *ret_value = text + strspn(text, " ");
    return true;
}

/* The value behind FLAG in argv[AT]; NULL when it is another argument. */
static const char *value_of(const struct profile_switch *one, const char *flag,
    const struct nesting_command *command, uint32_t at, uint32_t *ret_words)
{
    const char *argument = command->argv[at];
    size_t length = strlen(flag);

    *ret_words = 1;
    if (text_equal(argument, flag)) {
        if (one->form == FLAG_ALONE)
            return "true";
        if (at + 1 == command->argc)
            return "";
        *ret_words = 2;
        return command->argv[at + 1];
    }
    if (strncmp(argument, flag, length) != 0)
        return NULL;
    if (argument[length] == '=')
        return argument + length + 1;
    /* -sVALUE: the short form with its value in one word */
    return one->form != FLAG_ALONE && length == 2 && flag[1] != '-' ? argument + length : NULL;
}

static const char *match(const struct profile_switch *one, const struct nesting_command *command,
    uint32_t at, uint32_t *ret_words)
{
    for (uint32_t i = 0; i < one->flags.count; i++) {
        const char *value = value_of(one, one->flags.list[i], command, at, ret_words);

        if (!value)
            continue;
        if (one->form == FLAG_KEY_VALUE && !take_keyed(value, one->key, &value))
            continue;
        return value;
    }
    return NULL;
}

bool nesting_flag(const struct profile_switch *one, const struct nesting_command *command,
    uint32_t from, struct flag_found *ret)
{
    bool found = false;

    for (uint32_t at = from; at < command->argc; at++) {
        uint32_t words;
        const char *value;

        if (text_equal(command->argv[at], "--"))
            break;
        value = match(one, command, at, &words);
        if (!value)
            continue;
        *ret = (struct flag_found){.at = at, .words = words, .value = value};
        found = true;
        at += words - 1;
    }
    return found;
}

/* -- variables -- */

static const char *variable_in(const char *const *list, uint32_t count, const char *name)
{
    size_t length = strlen(name);
    const char *value = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(list[i], name, length) == 0 && list[i][length] == '=')
            value = list[i] + length + 1;
    }
    return value;
}

const char *nesting_variable(

    const struct nesting_command *command, uint32_t program, const char *name)
{
    const char *value = variable_in(command->argv, program, name);

    return value ? value : variable_in(command->env, command->n_env, name);
}

static const char *moved_by(
    const struct profile *profile, const struct nesting_command *command, uint32_t program)
{
    for (uint32_t i = 0; i < profile->moves_settings.count; i++) {
        if (nesting_variable(command, program, profile->moves_settings.list[i]))
            return profile->moves_settings.list[i];
    }
    return NULL;
}

/* -- questions -- */

static bool same_sandbox(const struct profile_switch *a, const struct profile_switch *b)
{
    return a->of == b->of || text_equal(a->of, b->of);
}

/* Is SWITCHES[I] the first of its sandbox? */
static bool begins_sandbox(const struct profile *profile, uint32_t i)
{
    for (uint32_t before = 0; before < i; before++) {
        if (same_sandbox(&profile->switches[before], &profile->switches[i]))
            return false;
    }
    return true;
}

/* True when ONE decides whatever stands in files: those behind it are not looked at. */
static bool decides(const struct profile_switch *one, const struct nesting_command *command,
    uint32_t program, struct flag_found *ret_flag)
{
    const char *value = NULL;

    if (one->kind == SWITCH_VARIABLE)
        value = nesting_variable(command, program, one->variable);
    else if (one->kind == SWITCH_FLAG && nesting_flag(one, command, program + 1, ret_flag))
        value = ret_flag->value;
    return value && one->form != FLAG_JSON && !words_have(&one->ignore, value);
}

static uint32_t questions_of(const struct profile *profile, const struct nesting_command *command,
    uint32_t program, uint32_t first, struct nesting_question *questions)
{
    uint32_t count = 0;

    for (uint32_t i = first; i < profile->n_switches; i++) {
        const struct profile_switch *one = &profile->switches[i];
        struct flag_found flag = {0};

        if (!same_sandbox(one, &profile->switches[first]))
            continue;
        if (decides(one, command, program, &flag))
            break;
        if (one->kind == SWITCH_SETTINGS)
            questions[count++] = (struct nesting_question){
                .of = i, .place = one->place, .path = one->path, .key = one->key};
        else if (one->kind == SWITCH_FLAG && one->form == FLAG_JSON && flag.value)
            questions[count++] = (struct nesting_question){
                .of = i, .place = PLACE_COMMAND, .text = flag.value, .key = one->key};
    }
    return count;
}

uint32_t nesting_questions(const struct profile *profile, const struct nesting_command *command,
    struct nesting_question questions[NESTING_QUESTIONS_MAX])
{
    uint32_t count = 0, program;

    if (nesting_program(profile, command, &program) < 0)
        return 0;
    for (uint32_t i = 0; i < profile->n_switches; i++) {
        if (begins_sandbox(profile, i))
            count += questions_of(profile, command, program, i, questions + count);
    }
    return count;
}

void nesting_merge(const struct profile_switch *one, struct nesting_answer *into,
    const struct nesting_answer *next)
{
    if (into->found == FOUND_BROKEN)
        return;
    if (next->found == FOUND_BROKEN || into->found != FOUND_VALUE ||
        (words_have(&one->ignore, into->value) && next->found == FOUND_VALUE))
        *into = *next;
}

/* -- judging -- */

struct judging {
    const struct profile *profile;
    const struct nesting_command *command;
    uint32_t program;
    struct nesting_question questions[NESTING_QUESTIONS_MAX];
    const struct nesting_answer *answers; /* of those */
    uint32_t n_answers;
    struct nesting *ret;
};

static void unquote(const char *value, char out[NESTING_VALUE_MAX])
{
    size_t length = strlen(value);

    if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
        value++;
        length -= 2;
    }
    (void)snprintf(out, NESTING_VALUE_MAX, "%.*s", (int)(length > 120 ? 120 : length), value);
}

/* NULL: nobody was asked, or nobody answered. */
static const struct nesting_answer *answer_of(
    const struct judging *judging, const struct profile_switch *one)
{
    for (uint32_t i = 0; i < judging->n_answers; i++) {
        if (&judging->profile->switches[judging->questions[i].of] == one)
            return &judging->answers[i];
    }
    return NULL;
}

/* The value that ONE has, and where.  False: it is not set. */
static bool look(struct judging *judging, const struct profile_switch *one, char value[],
    char where[], size_t size)
{
    const struct nesting_answer *answer = NULL;
    struct flag_found flag;
    const char *set = NULL;

    if (one->kind == SWITCH_VARIABLE) {
        set = nesting_variable(judging->command, judging->program, one->variable);
        (void)snprintf(where, size, "the environment: %.60s", one->variable);
    } else if (one->kind == SWITCH_FLAG) {
        if (!nesting_flag(one, judging->command, judging->program + 1, &flag))
            return false;
        (void)snprintf(where, size, "the command: %.60s%s%.40s", one->flags.list[0],
            one->key ? " " : "", one->key ? one->key : "");
        set = flag.value;
    } else {
        answer = answer_of(judging, one);
        (void)snprintf(where, size, "%s%.200s%s%.60s: %.40s",
            one->place == PLACE_HOME        ? "the seat's "
            : one->place != PLACE_WORKSPACE ? ""
            : answer && answer->directory   ? ""
                                            : "the workspace's ",
            answer && answer->directory ? answer->directory : "",
            answer && answer->directory ? "/" : "", one->path, one->key);
    }
    if (one->kind == SWITCH_SETTINGS || (set && one->form == FLAG_JSON)) {
        answer = answer_of(judging, one);
        if (!answer || answer->found == FOUND_UNSET || answer->found == FOUND_BROKEN) {
            judging->ret->reason = REASON_SETTINGS_UNREADABLE;
            (void)snprintf(judging->ret->detail, sizeof(judging->ret->detail), "%s: %s", where,
                answer && answer->why[0] ? answer->why : "nobody could read it");
            return false;
        }
        set = answer->found == FOUND_VALUE ? answer->value : NULL;
    }
    if (set)
        unquote(set, value);
    return set != NULL;
}

/* A switch's own remedy, with the paths of this leg in it. */
static void put_remedy(
    const struct nesting_command *command, const char *text, char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    while (*text && at + 1 < size) {
        const char *path = NULL;

        if (command->seat && text_starts_with(text, "SEAT"))
            path = command->seat;
        else if (command->workspace && text_starts_with(text, "WORKSPACE"))
            path = command->workspace;
        if (path) {
            text += path == command->seat ? strlen("SEAT") : strlen("WORKSPACE");
            at += (size_t)snprintf(out + at, size - at, "%s", path);
        } else {
            out[at++] = *text++;
            out[at] = '\0';
        }
    }
}

static void say_requested(struct judging *judging, const char *where, const char *value,
    const char *what, const struct profile_switch *one)
{
    struct nesting *ret = judging->ret;
    char remedy[NESTING_DETAIL_MAX - 320];
    int at;

    ret->reason = REASON_NESTED_SANDBOX_REQUESTED;
    at = snprintf(ret->detail, sizeof(ret->detail), "%.40s: %s%s%.60s%s (%s)",
        judging->profile->name, where, value ? " = " : "", value ? value : "", what,
        one ? one->name : "default");
    if (at < 0 || (size_t)at >= sizeof(ret->detail))
        return;
    if (one && one->remedy) {
        const struct nesting_answer *answer = answer_of(judging, one);
        struct nesting_command command = *judging->command;

        if (answer && answer->directory)
            command.workspace = answer->directory;
        put_remedy(&command, one->remedy, remedy, sizeof(remedy));
        (void)snprintf(
            ret->detail + at, sizeof(ret->detail) - (size_t)at, "; first run: %.600s", remedy);
    } else if (nesting_remedy(judging->profile, judging->command, remedy, sizeof(remedy)) == 0) {
        (void)snprintf(
            ret->detail + at, sizeof(ret->detail) - (size_t)at, "; give saphan run: %s", remedy);
    }
}

static void judge_switch(
    struct judging *judging, const struct profile_switch *one, const char *where, const char *value)
{
    if (nesting_means(&one->off, value) && !words_have(&one->on, value)) {
        judging->ret->sandbox = SANDBOX_OFF;
    } else if (nesting_means(&one->on, value)) {
        judging->ret->sandbox = SANDBOX_ON;
        say_requested(judging, where, value, " turns its own sandbox on", one);
    } else {
        say_requested(judging, where, value, " is a value of which its profile knows nothing", one);
    }
}

/* 1: decided, or refused; 0: not set. */
static bool judge_one(struct judging *judging, const struct profile_switch *one)
{
    char value[NESTING_VALUE_MAX], where[400];
    const char *mover;

    if (one->kind == SWITCH_SETTINGS) {
        mover = moved_by(judging->profile, judging->command, judging->program);
        if (mover) {
            judging->ret->reason = REASON_SETTINGS_UNREADABLE;
            (void)snprintf(judging->ret->detail, sizeof(judging->ret->detail),
                "%s puts the settings of %s elsewhere: leave it out", mover,
                judging->profile->name);
            return true;
        }
    }
    if (!look(judging, one, value, where, sizeof(where)))
        return judging->ret->reason != REASON_NONE;
    if (words_have(&one->ignore, value))
        return false;
    judge_switch(judging, one, where, value);
    return true;
}

static void judge_default(struct judging *judging)
{
    switch (judging->profile->standard) {
    case PROFILE_DEFAULT_ON:
        judging->ret->sandbox = SANDBOX_ON;
        say_requested(
            judging, "no switch is given, and", NULL, " its own sandbox is on by default", NULL);
        break;
    case PROFILE_DEFAULT_UNSETTLED:
        say_requested(judging, "no switch is given, and", NULL,
            " files that a leg can change would decide on its own sandbox", NULL);
        break;
    default:
        judging->ret->sandbox = SANDBOX_OFF;
    }
}

/* All that switches the sandbox whose first switch is FIRST. */
static void judge_sandbox(struct judging *judging, uint32_t first)
{
    const struct profile *profile = judging->profile;

    for (uint32_t i = first; i < profile->n_switches; i++) {
        if (same_sandbox(&profile->switches[i], &profile->switches[first]) &&
            judge_one(judging, &profile->switches[i]))
            return;
    }
    judge_default(judging);
}

static void find_bypass(struct judging *judging)
{
    for (uint32_t i = judging->program + 1; i < judging->command->argc; i++) {
        if (text_equal(judging->command->argv[i], "--"))
            return;
        if (words_have(&judging->profile->bypass, judging->command->argv[i])) {
            (void)snprintf(judging->ret->bypass, sizeof(judging->ret->bypass), "%.60s",
                judging->command->argv[i]);
            return;
        }
    }
}

void nesting_judge(const struct profile *profile, const struct nesting_command *command,
    const struct nesting_answer *answers, uint32_t n_answers, struct nesting *ret)
{
    struct judging judging = {
        .profile = profile, .command = command, .answers = answers, .ret = ret};
    uint32_t asked = nesting_questions(profile, command, judging.questions);

    judging.n_answers = n_answers < asked ? n_answers : asked;

    *ret = (struct nesting){.sandbox = SANDBOX_UNKNOWN};
    if (profile->programs.count == 0) {
        ret->sandbox = SANDBOX_OFF;
        return;
    }
    if (nesting_program(profile, command, &judging.program) < 0) {
        ret->reason = REASON_VENDOR_NOT_IN_COMMAND;
        (void)snprintf(ret->detail, sizeof(ret->detail),
            "no argument of the command is called %.60s%s%.60s", profile->programs.list[0],
            profile->programs.count > 1 ? " or " : "",
            profile->programs.count > 1 ? profile->programs.list[1] : "");
        return;
    }
    find_bypass(&judging);
    for (uint32_t i = 0; i < profile->n_switches && ret->reason == REASON_NONE; i++) {
        if (begins_sandbox(profile, i))
            judge_sandbox(&judging, i);
    }
    if (profile->n_switches == 0)
        judge_default(&judging);
}

bool nesting_is_probe(
    const struct profile *profile, const char *call, uint64_t flags, const char *comm)
{
    for (uint32_t i = 0; i < profile->n_probes; i++) {
        const struct profile_probe *probe = &profile->probes[i];

        if (text_equal(probe->call, call) && probe->flags == flags && text_equal(probe->comm, comm))
            return true;
    }
    return false;
}
