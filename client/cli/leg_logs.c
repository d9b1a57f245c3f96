/* saphan leg logs: the output that was kept, each stream to its own. */
#include "ask.h"
#include "descriptor.h"
#include "leg_word.h"
#include "say.h"
#include "verbs.h"
#include <string.h>

static const struct leg_word word = {
    .verb = "saphan leg logs",
    .help = "usage: saphan leg logs ID [--follow]\n"
            "\n"
            "Writes what was kept of the leg's output, its standard error to standard error.\n"
            "\n"
            "  --follow   go on until the leg ends\n",
    .may_follow = true,
};

static int print_output(void *context, const struct saphan_event *event)
{
    const struct saphan_output *output = &event->output;
    int fd = output->stream == 1 ? STDOUT_FILENO : STDERR_FILENO;

    if (event->kind != SAPHAN_EVENT_OUTPUT)
        return 0;
    if (output->lost > 0)
        (void)say("%llu bytes of %s were not kept", (unsigned long long)output->lost,
            output->stream == 1 ? "standard output" : "standard error");
    if (descriptor_write_all(fd, output->bytes, output->size) < 0)
        return say("the output could not be written");
    return 0;
}

int verb_leg_logs(int argc, char **argv)
{
    struct saphan *saphan;
    struct saphan_error error;
    bool follow = false;
    int asked, status;
    unsigned long long leg = leg_word_parse(&word, argc, argv, &follow, &status);

    if (leg == 0)
        return status;
    saphan = ask_connect();
    if (!saphan)
        return EXIT_OURS;
    asked = saphan_logs(saphan, leg, follow, NULL, &error);
    return ask_to_the_end(saphan, asked, &error, print_output, NULL);
}
