#include "decode.h"

#include "decode_cell.h"
#include "decode_run.h"
#include "form.h"
#include "frame.h"
#include "outlets.h"
#include "saphan.pb-c.h"
#include <errno.h>
#include <string.h>

_Static_assert(FRAME_DESCRIPTORS_MAX <= 64, "form.named has a bit for each");
_Static_assert(FRAME_DESCRIPTORS_MAX <= SEAM_DESCRIPTORS_MAX, "all of them fit into one packet");

/* protobuf-c needs some 40 bytes for each field of a real frame, and a field is 3 bytes or more:
 * a frame that needs more than this is made of empty messages. */
#define ARENA_SIZE(frame) (16384 + 64 * (frame))

static int decode_leg(struct form *form, uint16_t type, uint64_t leg, bool follow, struct ask *ask)
{
    if (leg == 0)
        return form_malformed(form, "leg: 0 is no leg");
    seam_writer_init(&ask->writer, type, 0);
    ask->fixed.leg = (struct seam_ask_leg){.leg = leg, .follow = follow};
    return 0;
}

static int decode_why(struct form *form, const Saphan__V1__Why *why, struct ask *ask)
{
    const char *path;
    int r;

    if (why->leg == 0)
        return form_malformed(form, "leg: 0 is no leg");
    r = form_path(form, "path", &why->path, PATH_ABSOLUTE, &path);
    if (r != 0)
        return r;
    seam_writer_init(&ask->writer, SEAM_ASK_WHY, 0);
    ask->fixed.why = (struct seam_ask_why){.leg = why->leg};
    ask->fixed.why.path = seam_put_text(&ask->writer, path);
    return 0;
}

static int decode_change_door(
    struct form *form, const Saphan__V1__ChangeDoor *change, struct ask *ask)
{
    struct host_pattern pattern;
    int r;

    if (change->leg == 0)
        return form_malformed(form, "leg: 0 is no leg");
    r = decode_host(form, "host", &change->host, &pattern);
    if (r != 0)
        return r;
    seam_writer_init(&ask->writer, SEAM_ASK_DOOR, 0);
    ask->fixed.door = (struct seam_ask_door){.leg = change->leg, .deny = change->deny != 0};
    ask->fixed.door.host = seam_put_host(&ask->writer, &pattern);
    return 0;
}

static int decode_image(
    struct form *form, uint16_t type, const char *name, const char *reference, struct ask *ask)
{
    seam_writer_init(&ask->writer, type, 0);
    if (strlen(name) > IMAGE_NAME_MAX || strlen(reference) > 1024)
        return form_malformed(form, "name: longer than %d bytes", IMAGE_NAME_MAX);
    ask->fixed.image = (struct seam_ask_image){0};
    ask->fixed.image.name = seam_put_text(&ask->writer, name[0] ? name : NULL);
    ask->fixed.image.reference = seam_put_text(&ask->writer, reference[0] ? reference : NULL);
    return 0;
}

static int decode_image_add(struct form *form, const Saphan__V1__ImageAdd *add, struct ask *ask)
{
    int32_t at = -1;
    int r = form_descriptor(form, "image_add.descriptor", add->descriptor, &at);

    if (r == 0 && at != 0)
        r = form_malformed(
            form, "image_add.descriptor: the one descriptor of the frame is the source");
    if (r == 0 && !add->name[0])
        r = form_malformed(form, "image_add.name: empty");
    if (r != 0)
        return r;
    r = decode_image(form, SEAM_ASK_IMAGE_ADD, add->name, add->reference, ask);
    ask->fixed.image.has_source = 1;
    return r;
}

static int decode_body(struct form *form, const Saphan__V1__ClientFrame *frame, struct ask *ask)
{
    switch (frame->body_case) {
    case SAPHAN__V1__CLIENT_FRAME__BODY_RUN:
        return decode_run(form, frame->run, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_LIST_LEGS:
        seam_writer_init(&ask->writer, SEAM_ASK_LEGS, 0);
        ask->fixed.legs = (struct seam_ask_legs){.all = frame->list_legs->all != 0};
        return 0;
    case SAPHAN__V1__CLIENT_FRAME__BODY_SHOW_LEG:
        return decode_leg(form, SEAM_ASK_SHOW, frame->show_leg->leg, false, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_LEG_LOGS:
        return decode_leg(
            form, SEAM_ASK_LOGS, frame->leg_logs->leg, frame->leg_logs->follow != 0, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_KILL_LEG:
        return decode_leg(form, SEAM_ASK_KILL, frame->kill_leg->leg, false, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_WHY:
        return decode_why(form, frame->why, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_CHANGE_DOOR:
        return decode_change_door(form, frame->change_door, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_ADD:
        return decode_image_add(form, frame->image_add, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_LIST:
        return decode_image(form, SEAM_ASK_IMAGES, frame->image_list->name, "", ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_REMOVE:
        return frame->image_remove->name[0]
                   ? decode_image(form, SEAM_ASK_IMAGE_RM, frame->image_remove->name, "", ask)
                   : form_malformed(form, "image_remove.name: empty");
    case SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_GC:
        return decode_image(form, SEAM_ASK_IMAGE_GC, "", "", ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_STATUS:
        seam_writer_init(&ask->writer, SEAM_ASK_STATUS, 0);
        return 0;
    case SAPHAN__V1__CLIENT_FRAME__BODY_MACHINE:
        seam_writer_init(&ask->writer, SEAM_ASK_MACHINE, 0);
        ask->fixed.machine = (struct seam_ask_machine){.measure = frame->machine->measure != 0};
        return 0;
    case SAPHAN__V1__CLIENT_FRAME__BODY_CELL_STEP:
        return decode_cell(form, frame->cell_step, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_ARM_STEP:
        return decode_arm(form, frame->arm_step, ask);
    case SAPHAN__V1__CLIENT_FRAME__BODY_MATRIX:
        return decode_matrix(form, frame->matrix, ask);
    default:
        return form_malformed(form, "body: absent");
    }
}

static int decode_frame(struct form *form, const Saphan__V1__ClientFrame *frame, struct ask *ask)
{
    int r;

    r = form_message(form, &frame->base);
    if (r == 0)
        r = form_number(form, "protocol", frame->protocol, FRAME_PROTOCOL, FRAME_PROTOCOL);
    if (r == 0)
        r = decode_body(form, frame, ask);
    if (r == 0)
        r = form_all_named(form);
    return r;
}

int decode(const uint8_t *bytes, size_t size, size_t n_descriptors, struct ask *ret,
    struct refusal *ret_refusal)
{
    struct arena arena __attribute__((cleanup(arena_done_auto))) = {0};
    struct form form = {.arena = &arena, .n_descriptors = n_descriptors, .refusal = ret_refusal};
    Saphan__V1__ClientFrame *frame;
    int r;

    memset(ret, 0, sizeof(*ret));
    r = arena_init(&arena, ARENA_SIZE(size));
    if (r < 0)
        return r;
    frame = saphan__v1__client_frame__unpack(&arena.allocator, size, bytes);
    if (!frame) {
        (void)form_malformed(&form, "frame: not a ClientFrame");
        return DECODE_E_REFUSED;
    }
    ret->request = frame->request;
    r = decode_frame(&form, frame, ret);
    if (r != 0)
        ask_done(ret);
    return r == FORM_E_REFUSED ? DECODE_E_REFUSED : r;
}

void ask_done(struct ask *ask)
{
    seam_writer_done(&ask->writer);
}
