#include "leg_image.h"

#include "idmap.h"
#include "image_store.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define ID_MAX 65535
#define PID1_ID 65533 /* whom pid 1 of every leg runs as */

void leg_image_done(struct leg *leg)
{
    free(leg->argv);
    leg->argv = NULL;
    if (!leg->image)
        return;
    for (uint32_t i = 0; i < leg->image->n_places; i++)
        free(leg->image->places[i]);
    image_record_done(&leg->image->record);
    free(leg->image->user);
    free(leg->image);
    leg->image = NULL;
}

const char *leg_image_place(struct leg *leg, const char *place, const char *part)
{
    struct leg_image *image = leg->image;
    char *text;

    if (!place || !image || image->n_places == array_size(image->places))
        return NULL;
    text = text_format("%s/%s", place, part);
    if (!text)
        return NULL;
    image->places[image->n_places++] = text;
    return text;
}

/* ---- the command ---- */

static void add_block(struct leg *leg, const struct string_block *block)
{
    const char *at = block->bytes;

    for (uint32_t i = 0; i < block->count; i++, at += strlen(at) + 1)
        leg->argv[leg->argc++] = at;
}

/* A command that was given stands in the place of all that the image says. */
static int find_command(struct leg *leg)
{
    const struct image_record *image = leg->image ? &leg->image->record : NULL;
    uint32_t asked = leg->run->argv.count;
    const char *at = seam_list_first(&leg->ask, leg->run->argv);
    uint32_t room = asked ? asked : image ? image->entrypoint.count + image->command.count : 0;

    leg->argv = calloc((size_t)room + 1, sizeof(*leg->argv));
    if (!leg->argv)
        return -ENOMEM;
    for (uint32_t i = 0; i < asked; i++, at = seam_list_next(at))
        leg->argv[leg->argc++] = at;
    if (asked == 0 && image) {
        add_block(leg, &image->entrypoint);
        add_block(leg, &image->command);
    }
    return 0;
}

/* ---- the user ---- */

static bool is_number(const char *text)
{
    return text[0] >= '0' && text[0] <= '9';
}

/* Exactly a plain number, or exactly a name of the image: nothing else is a user or a group. */
static int find_id(const struct leg *leg, bool group, const char *text, uint32_t *ret_id,
    uint32_t *ret_gid, bool *ret_named)
{
    uint64_t number;

    *ret_named = !is_number(text);
    if (*ret_named)
        return ledger_image_account(
            leg->warden->ledger, leg->image->record.name, group, text, ret_id, ret_gid);
    if (text_parse_uint(text, ID_MAX, &number) < 0 || number == PID1_ID)
        return -EINVAL;
    *ret_id = (uint32_t)number;
    return 0;
}

/* USER[:GROUP].  The group of a user that the image does not know is 0, as everywhere. */
static int find_user(struct leg *leg, const char *text)
{
    struct leg_image *image = leg->image;
    auto_free char *copy = strdup(text);
    char *group = copy, *user;
    uint32_t gid = 0, unused;
    bool named;
    int r;

    if (!copy)
        return -ENOMEM;
    user = strsep(&group, ":");
    r = find_id(leg, false, user, &image->uid, &gid, &named);
    if (r < 0)
        return r;
    free(image->user);
    image->user = named ? strdup(user) : NULL;
    if (named && !image->user)
        return -ENOMEM;
    if (!named) {
        r = ledger_image_uid(
            leg->warden->ledger, image->record.name, image->uid, &gid, &image->user);
        if (r < 0 && r != -ENOENT)
            return r;
    }
    image->gid = gid;
    if (!group)
        return 0;
    return find_id(leg, true, group, &image->gid, &unused, &named);
}

static void judge_user(struct leg *leg)
{
    struct asked_image *asked = &leg->request.image;
    const char *wanted = seam_text(&leg->ask, leg->run->user);
    const char *from = "asked";
    int r;

    if (!wanted || !*wanted) {
        wanted = leg->image->record.user;
        from = "the image's";
    }
    r = find_user(leg, *wanted ? wanted : "0:0");
    if (r == 0 && leg->image->uid != PID1_ID && leg->image->gid != PID1_ID)
        return;
    asked->trouble = REASON_USER_UNKNOWN;
    (void)snprintf(
        asked->trouble_detail, sizeof(asked->trouble_detail), "%s: user %.150s", from, wanted);
}

/* ---- all of it ---- */

static void take_image(struct leg *leg)
{
    struct asked_image *asked = &leg->request.image;
    const struct image_record *record = &leg->image->record;

    asked->known = true;
    asked->owner = record->owner;
    if (text_path_is_normal(record->directory))
        asked->directory = record->directory;
    judge_user(leg);
    asked->root = leg->image->uid == 0;
    if (leg->argc == 0 && asked->trouble == REASON_NONE) {
        asked->trouble = REASON_IMAGE_NO_COMMAND;
        (void)snprintf(
            asked->trouble_detail, sizeof(asked->trouble_detail), "image %.150s", asked->name);
    }
}

int leg_find_image(struct leg *leg)
{
    const char *name = seam_text(&leg->ask, leg->run->image);
    int r = 0;

    if (name && *name) {
        leg->request.image.name = name;
        leg->image = calloc(1, sizeof(*leg->image));
        r = leg->image ? ledger_image_get(leg->warden->ledger, name, &leg->image->record) : -ENOMEM;
        if (r == -ENOENT) {
            free(leg->image);
            leg->image = NULL;
            r = 0;
        }
    }
    if (r == 0)
        r = find_command(leg);
    if (r < 0) {
        leg_refuse(leg, REASON_LEDGER_FAILED, "the image could not be looked up");
        return r;
    }
    if (leg->image)
        take_image(leg);
    else if (leg->argc == 0 && !leg->request.image.name) {
        leg_refuse(leg, REASON_REQUEST_MALFORMED, "no command");
        return -EBADMSG;
    }
    return 0;
}

/* ---- grants ---- */

/* Only what is the requester's, so that no capability reaches what is another's
 * (capable_wrt_inode_uidgid() of the kernel wants owner and group mapped). */
static int requesters_map(const struct leg *leg)
{
    const struct peer *peer = &leg->peer;
    const uint32_t base = leg->slot->id_base;
    const struct idmap_extent uid = {peer->uid, base + leg->image->uid, 1};
    struct idmap_extent gids[GROUPS_MAX + 1] = {{peer->gid, base + leg->image->gid, 1}};
    size_t n_gids = 1;

    for (uint32_t i = 0; i < peer->n_groups; i++) {
        bool again = false;

        for (size_t j = 0; j < n_gids; j++)
            again = again || gids[j].inside == peer->groups[i];
        if (!again)
            gids[n_gids++] = (struct idmap_extent){
                peer->groups[i], base + leg_group_inside(leg, peer->groups[i]), 1};
    }
    return idmap_namespace(&uid, 1, gids, n_gids);
}

int leg_grant_map(const struct leg *leg)
{
    struct idmap_extent uids[IDMAP_EXTENTS_MAX], gids[IDMAP_EXTENTS_MAX];
    const struct leg_image *image = leg->image;
    size_t n_uids, n_gids;

    if (leg->decision.capabilities)
        return requesters_map(leg);
    if (leg->peer.uid == image->uid && leg->peer.gid == image->gid)
        return fcntl(leg->slot->user_namespace, F_DUPFD_CLOEXEC, 3);
    n_uids = idmap_swapped(leg->peer.uid, image->uid, leg->slot->id_base, 65536, uids);
    n_gids = idmap_swapped(leg->peer.gid, image->gid, leg->slot->id_base, 65536, gids);
    return idmap_namespace(uids, n_uids, gids, n_gids);
}

uint32_t leg_group_inside(const struct leg *leg, uint32_t group)
{
    const struct leg_image *image = leg->image;

    if (!image)
        return group;
    if (group == leg->peer.gid)
        return image->gid;
    return group == image->gid ? leg->peer.gid : group;
}
