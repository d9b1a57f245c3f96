/* nesting_remedy.c - the command as it should have been: something to paste, not a riddle. */
#include "nesting.h"

#include "text.h"
#include <errno.h>
#include <string.h>

struct writing {
    char *out;
    size_t size, at;
    int result;
};

static void put_byte(struct writing *writing, char byte)
{
    if (writing->at + 1 >= writing->size)
        writing->result = -E2BIG;
    else
        writing->out[writing->at++] = byte;
    writing->out[writing->at] = '\0';
}

static void put(struct writing *writing, const char *text)
{
    for (; *text; text++)
        put_byte(writing, *text);
}

/* As sh(1) reads it back.  What a terminal could not show unharmed is not quoted but given up. */
static void put_word(struct writing *writing, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@,+%";

    if (writing->at > 0)
        put_byte(writing, ' ');
    for (const char *at = word; *at; at++) {
        if (*at < 0x20 || *at > 0x7e || *at == '\\')
            writing->result = -E2BIG;
    }
    if (*word && strspn(word, plain) == strlen(word)) {
        put(writing, word);
        return;
    }
    put_byte(writing, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            put(writing, "'\"'\"'");
        else
            put_byte(writing, *word);
    }
    put_byte(writing, '\'');
}

/* Is argv[AT] the place of a switch that turns the sandbox on, and how many words is that? */
static uint32_t words_to_leave_out(
    const struct profile *profile, const struct nesting_command *command, uint32_t at)
{
    struct nesting_command here = *command;

    for (uint32_t i = 0; i < profile->n_switches; i++) {
        const struct profile_switch *one = &profile->switches[i];
        struct flag_found flag;

        if (one->kind != SWITCH_FLAG)
            continue;
        here.argc = at + 2 < command->argc ? at + 2 : command->argc;
        if (nesting_flag(one, &here, at, &flag) && flag.at == at)
            return flag.words;
    }
    return 0;
}

static uint32_t place_for_remedy(
    const struct profile *profile, const struct nesting_command *command, uint32_t program)
{
    for (uint32_t i = program + 1; i < command->argc; i++) {
        if (text_equal(command->argv[i], "--"))
            break;
        if (words_have(&profile->remedy_after, command->argv[i]))
            return i;
    }
    return program;
}

int nesting_remedy(
    const struct profile *profile, const struct nesting_command *command, char *out, size_t size)
{
    struct writing writing = {.out = out, .size = size};
    uint32_t program, after;

    if (profile->remedy.count + profile->remedy_variables.count == 0 ||
        nesting_program(profile, command, &program) < 0)
        return -ENOENT;
    after = place_for_remedy(profile, command, program);
    for (uint32_t i = 0; i < profile->remedy_variables.count; i++) {
        put_word(&writing, "--env");
        put_word(&writing, profile->remedy_variables.list[i]);
    }
    put_word(&writing, "--");
    for (uint32_t i = 0; i < command->argc; i++) {
        uint32_t skip = i > program ? words_to_leave_out(profile, command, i) : 0;

        if (skip > 0) {
            i += skip - 1;
            continue;
        }
        put_word(&writing, command->argv[i]);
        for (uint32_t j = 0; i == after && j < profile->remedy.count; j++)
            put_word(&writing, profile->remedy.list[j]);
    }
    return writing.result;
}
