/* saphan image: the root file systems that containers run in. */
#include "ask.h"
#include "image_word.h"
#include "own.h"
#include "say.h"
#include "verbs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: saphan image add [--reference REF] NAME SOURCE   add it from an OCI layout (directory\n"
    "                                                        or tar), a docker-archive, or a root\n"
    "                                                        directory\n"
    "       saphan image list [--json]                       those you may see\n"
    "       saphan image show [--json] NAME                  one of them\n"
    "       saphan image rm NAME                             remove it, and what it alone needs\n"
    "       saphan image gc                                  remove layers that nothing needs\n"
    "\n"
    "To fetch one:  skopeo copy docker://debian:12 oci-archive:debian.tar\n"
    "               saphan image add debian debian.tar\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} words[] = {
    {"add", verb_image_add},
    {"list", verb_image_list},
    {"show", verb_image_show},
    {"rm", verb_image_rm},
    {"gc", verb_image_gc},
};

int verb_image(int argc, char **argv)
{
    if (argc < 1)
        return say("image: wanted add, list, show, rm or gc: see `saphan image --help`");
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
        return print_text(help, strlen(help));
    for (size_t i = 0; i < array_size(words); i++) {
        if (strcmp(argv[0], words[i].name) == 0)
            return words[i].run(argc - 1, argv + 1);
    }
    return say("image: %s: wanted add, list, show, rm or gc", escaped(argv[0]));
}

/* ---- add ---- */

/* A directory or a regular file; a FIFO or a device is not waited for. */
static int open_source(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return say("%s: %s", escaped(path), strerror(errno)), -1;
    if (fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))) {
        close(fd);
        return say("%s: neither a directory nor a regular file", escaped(path)), -1;
    }
    return fd;
}

static int add(const struct image_word *word)
{
    int source = open_source(word->words[1]), asked;
    struct saphan *saphan;
    struct saphan_error error;

    if (source < 0)
        return EXIT_OURS;
    saphan = ask_connect();
    if (!saphan) {
        close(source);
        return EXIT_OURS;
    }
    asked = saphan_image_add(saphan, word->words[0], source, word->reference, NULL, &error);
    close(source);
    return ask_to_the_end(saphan, asked, &error, image_print, (void *)(uintptr_t)word);
}

int verb_image_add(int argc, char **argv)
{
    struct image_word word = {.verb = "saphan image add",
        .help =
            "usage: saphan image add [--reference REF] [--json] NAME SOURCE\n"
            "\n"
            "Adds the image NAME, or puts another in its place, from SOURCE: an OCI image\n"
            "layout (a directory, or a tar file of one), a docker-archive (what `docker save`,\n"
            "`podman save` and `skopeo copy` write), or the root directory of a system.\n"
            "\n"
            "  --reference REF   which image of a source that holds several\n"
            "  --json            one JSON object on standard output\n"
            "  --help\n",
        .wanted = 2,
        .may_refer = true,
        .may_json = true};
    int status = image_word_parse(&word, argc, argv);

    return status < 0 ? add(&word) : status;
}

/* ---- list, show ---- */

static int list(const struct image_word *word)
{
    struct saphan *saphan = ask_connect();
    struct saphan_error error;
    int asked;

    if (!saphan)
        return EXIT_OURS;
    asked = saphan_images(saphan, word->words[0], NULL, &error);
    return ask_to_the_end(saphan, asked, &error, word->words[0] ? image_print : image_print_row,
        (void *)(uintptr_t)word);
}

int verb_image_list(int argc, char **argv)
{
    struct image_word word = {.verb = "saphan image list",
        .help = "usage: saphan image list [--json]\n\nLists the images this user may see.\n\n"
                "  --json    one JSON object a line\n  --help\n",
        .may_json = true};
    int status = image_word_parse(&word, argc, argv);

    return status < 0 ? list(&word) : status;
}

int verb_image_show(int argc, char **argv)
{
    struct image_word word = {.verb = "saphan image show",
        .help = "usage: saphan image show [--json] NAME\n\n"
                "Says what the image is and how it is run.\n\n"
                "  --json    one JSON object\n  --help\n",
        .wanted = 1,
        .may_json = true};
    int status = image_word_parse(&word, argc, argv);

    return status < 0 ? list(&word) : status;
}

/* ---- rm, gc ---- */

static int say_gone(void *context, const struct saphan_event *event)
{
    return 0;
}

static int change(const struct image_word *word, bool gc)
{
    struct saphan *saphan = ask_connect();
    struct saphan_error error;
    int asked;

    if (!saphan)
        return EXIT_OURS;
    asked = gc ? saphan_image_gc(saphan, NULL, &error)
               : saphan_image_remove(saphan, word->words[0], NULL, &error);
    return ask_to_the_end(saphan, asked, &error, say_gone, NULL);
}

int verb_image_rm(int argc, char **argv)
{
    struct image_word word = {.verb = "saphan image rm",
        .help = "usage: saphan image rm NAME\n\n"
                "Removes the image, and the layers that no other image and no leg needs.\n",
        .wanted = 1};
    int status = image_word_parse(&word, argc, argv);

    return status < 0 ? change(&word, false) : status;
}

int verb_image_gc(int argc, char **argv)
{
    struct image_word word = {.verb = "saphan image gc",
        .help = "usage: saphan image gc\n\n"
                "Removes layers that no image and no leg needs any more.\n"};
    int status = image_word_parse(&word, argc, argv);

    return status < 0 ? change(&word, true) : status;
}
