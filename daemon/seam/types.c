#include "types.h"

#include "messages.h"

#define TEXT(type, member)                                                                         \
    {                                                                                              \
        offsetof(type, member), 1, 0, false                                                        \
    }
#define LIST(type, member)                                                                         \
    {                                                                                              \
        offsetof(type, member), 1, 0, true                                                         \
    }
#define TEXTS(type, array, member)                                                                 \
    {                                                                                              \
        offsetof(type, array[0].member),                                                           \
            sizeof(((const type *)NULL)->array) / sizeof(((const type *)NULL)->array[0]),          \
            sizeof(((const type *)NULL)->array[0]), false                                          \
    }
#define FIELDS(name, ...)                                                                          \
    static const struct seam_type_field name##_fields[] = {__VA_ARGS__, {0, 0, 0, false}}

/* Writers must set every text of an array that they do not use to SEAM_TEXT_ABSENT or leave it
 * zeroed, which is the empty text at offset 0: see the check in channel.c. */
FIELDS(event, TEXT(struct seam_event, subject), TEXT(struct seam_event, detail));
FIELDS(told, TEXT(struct seam_told, event.subject), TEXT(struct seam_told, event.detail),
    TEXT(struct seam_told, comm), TEXT(struct seam_told, exe));
FIELDS(ready, LIST(struct seam_ready, led));
FIELDS(refused, TEXTS(struct seam_refused, refusals, detail));
FIELDS(verdict, TEXTS(struct seam_verdict, reasons, detail), TEXT(struct seam_verdict, kept));
FIELDS(leg, TEXT(struct seam_leg, vendor), TEXT(struct seam_leg, directory),
    TEXT(struct seam_leg, user), TEXT(struct seam_leg, reasons), LIST(struct seam_leg, argv),
    LIST(struct seam_leg, grants));
FIELDS(status, TEXT(struct seam_status, version), TEXT(struct seam_status, kernel),
    TEXT(struct seam_status, socket), TEXT(struct seam_status, state_directory),
    TEXT(struct seam_status, problem));
FIELDS(rung, TEXT(struct seam_rung, detail), TEXT(struct seam_rung, facet));
FIELDS(machine, TEXT(struct seam_machine, kernel), TEXT(struct seam_machine, distribution),
    TEXT(struct seam_machine, boot_id), TEXT(struct seam_machine, host),
    TEXT(struct seam_machine, version), TEXT(struct seam_machine, command));
#define ALL_TEXTS(type)                                                                            \
    {                                                                                              \
        offsetof(type, texts), sizeof(((const type *)NULL)->texts) / sizeof(struct seam_text),     \
            sizeof(struct seam_text), false                                                        \
    }
FIELDS(cell, ALL_TEXTS(struct seam_cell));
FIELDS(arm, ALL_TEXTS(struct seam_arm), LIST(struct seam_arm, argv));
FIELDS(ask_matrix, TEXT(struct seam_ask_matrix, vendor));
FIELDS(property, TEXT(struct seam_property, slug), TEXT(struct seam_property, meaning),
    TEXT(struct seam_property, detail));
FIELDS(rule, TEXT(struct seam_rule, name), TEXT(struct seam_rule, file),
    TEXT(struct seam_rule, boundaries), TEXT(struct seam_rule, views), TEXT(struct seam_rule, nets),
    TEXT(struct seam_rule, vendors), TEXT(struct seam_rule, read), TEXT(struct seam_rule, write),
    TEXT(struct seam_rule, limits), TEXT(struct seam_rule, hosts),
    TEXT(struct seam_rule, capabilities));
#define FORWARD_FIELDS(type)                                                                       \
    TEXTS(type, hosts, name), TEXTS(type, forwards, host.name), TEXTS(type, forwards, path),       \
        TEXTS(type, forwards, header)
FIELDS(run, FORWARD_FIELDS(struct seam_run), TEXTS(struct seam_run, grants, path),
    TEXTS(struct seam_run, artefacts, path), TEXTS(struct seam_run, grants, target),
    LIST(struct seam_run, argv), LIST(struct seam_run, env), LIST(struct seam_run, carve_outs),
    TEXT(struct seam_run, chdir), TEXT(struct seam_run, vendor), TEXT(struct seam_run, image),
    TEXT(struct seam_run, user), TEXT(struct seam_run, host_name));
FIELDS(door, FORWARD_FIELDS(struct seam_door), LIST(struct seam_door, resolvers));
FIELDS(dial, TEXT(struct seam_dial, path));
FIELDS(host, TEXT(struct seam_host, name));
FIELDS(ask_door, TEXT(struct seam_ask_door, host.name));
FIELDS(failed, TEXT(struct seam_failed, subject));
FIELDS(check, TEXTS(struct seam_check, artefacts, path));
FIELDS(open, TEXTS(struct seam_open, paths, path));
FIELDS(opened, TEXT(struct seam_opened, name));
FIELDS(find, TEXT(struct seam_find, program), TEXT(struct seam_find, directory),
    TEXT(struct seam_find, search), TEXT(struct seam_find, home), LIST(struct seam_find, before));
FIELDS(trail, TEXT(struct seam_trail, path), TEXT(struct seam_trail, target));
FIELDS(ask_why, TEXT(struct seam_ask_why, path));
FIELDS(why, TEXT(struct seam_why, path), TEXT(struct seam_why, area));
FIELDS(read, TEXTS(struct seam_read, questions, path), TEXTS(struct seam_read, questions, text),
    TEXTS(struct seam_read, questions, key));
FIELDS(found, TEXT(struct seam_found, value), TEXT(struct seam_found, why));
FIELDS(make, LIST(struct seam_make, paths));
FIELDS(ask_image, TEXT(struct seam_ask_image, name), TEXT(struct seam_ask_image, reference));
FIELDS(image, TEXT(struct seam_image, name), TEXT(struct seam_image, owner),
    TEXT(struct seam_image, architecture), TEXT(struct seam_image, user),
    TEXT(struct seam_image, directory), LIST(struct seam_image, env),
    LIST(struct seam_image, entrypoint), LIST(struct seam_image, command));
FIELDS(unpack, TEXT(struct seam_unpack, reference));
FIELDS(unpacked_account, TEXT(struct seam_unpacked_account, name));
FIELDS(unpacked, TEXT(struct seam_unpacked, architecture), TEXT(struct seam_unpacked, user),
    TEXT(struct seam_unpacked, directory), LIST(struct seam_unpacked, env),
    LIST(struct seam_unpacked, entrypoint), LIST(struct seam_unpacked, command));
FIELDS(unpack_refused, TEXT(struct seam_unpack_refused, detail));
FIELDS(probed, TEXT(struct seam_probed, detail), TEXT(struct seam_probed, facet));
FIELDS(heard, TEXT(struct seam_heard, object), TEXT(struct seam_heard, dev),
    TEXT(struct seam_heard, comm), TEXT(struct seam_heard, exe));

static const struct seam_type_form *unpacker_form(uint16_t type)
{
    static const struct seam_type_form forms[] = {
        [0] = {sizeof(struct seam_unpack), 3, unpack_fields}, /* counted from SEAM_UNPACK */
        [SEAM_UNPACK_HAVE -
            SEAM_UNPACK] = {sizeof(struct seam_unpack_have), IMAGE_LAYERS_MAX, NULL},
        [SEAM_CLEAR - SEAM_UNPACK] = {sizeof(struct seam_end), 2, NULL},
        [SEAM_UNPACK_LAYERS - SEAM_UNPACK] = {sizeof(struct seam_unpack_layers), 0, NULL},
        [SEAM_UNPACKED_LAYER - SEAM_UNPACK] = {sizeof(struct seam_unpacked_layer), 0, NULL},
        [SEAM_UNPACKED_ACCOUNT -
            SEAM_UNPACK] = {sizeof(struct seam_unpacked_account), 0, unpacked_account_fields},
        [SEAM_UNPACKED - SEAM_UNPACK] = {sizeof(struct seam_unpacked), 0, unpacked_fields},
        [SEAM_UNPACK_REFUSED -
            SEAM_UNPACK] = {sizeof(struct seam_unpack_refused), 0, unpack_refused_fields},
        [SEAM_CLEARED - SEAM_UNPACK] = {sizeof(struct seam_end), 0, NULL},
    };
    size_t at = (size_t)type - SEAM_UNPACK;

    return at < sizeof(forms) / sizeof(forms[0]) && forms[at].fixed_size > 0 ? &forms[at] : NULL;
}

static const struct seam_type_form forms[] = {
    [SEAM_SERVE] = {sizeof(struct seam_serve), 1, NULL},
    [SEAM_ACCEPTED] = {sizeof(struct seam_accepted), 3, NULL},
    [SEAM_REFUSED] = {sizeof(struct seam_refused), 0, refused_fields},
    [SEAM_EVENT] = {sizeof(struct seam_event), 0, event_fields},
    [SEAM_VERDICT] = {sizeof(struct seam_verdict), 0, verdict_fields},
    [SEAM_LEG] = {sizeof(struct seam_leg), 0, leg_fields},
    [SEAM_LOG] = {sizeof(struct seam_log), 1, NULL},
    [SEAM_STATUS] = {sizeof(struct seam_status), 0, status_fields},
    [SEAM_RUNG] = {sizeof(struct seam_rung), 0, rung_fields},
    [SEAM_RULE] = {sizeof(struct seam_rule), 0, rule_fields},
    [SEAM_END] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_ASK_RUN] = {sizeof(struct seam_run), SEAM_DESCRIPTORS_MAX, run_fields},
    [SEAM_ASK_LEGS] = {sizeof(struct seam_ask_legs), 0, NULL},
    [SEAM_ASK_SHOW] = {sizeof(struct seam_ask_leg), 0, NULL},
    [SEAM_ASK_LOGS] = {sizeof(struct seam_ask_leg), 0, NULL},
    [SEAM_ASK_KILL] = {sizeof(struct seam_ask_leg), 0, NULL},
    [SEAM_ASK_STATUS] = {sizeof(struct seam_ask_status), 0, NULL},
    [SEAM_CLIENT_GONE] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_ASK_WHY] = {sizeof(struct seam_ask_why), 0, ask_why_fields},
    [SEAM_ASK_DOOR] = {sizeof(struct seam_ask_door), 0, ask_door_fields},
    [SEAM_WHY] = {sizeof(struct seam_why), 0, why_fields},
    [SEAM_MACHINE] = {sizeof(struct seam_machine), 0, machine_fields},
    [SEAM_PROPERTY] = {sizeof(struct seam_property), 0, property_fields},
    [SEAM_CELL] = {sizeof(struct seam_cell), 0, cell_fields},
    [SEAM_ARM] = {sizeof(struct seam_arm), 0, arm_fields},
    [SEAM_ASK_CELL] = {sizeof(struct seam_cell), 0, cell_fields},
    [SEAM_ASK_ARM] = {sizeof(struct seam_arm), 0, arm_fields},
    [SEAM_ASK_MATRIX] = {sizeof(struct seam_ask_matrix), 0, ask_matrix_fields},
    [SEAM_ASK_MACHINE] = {sizeof(struct seam_ask_machine), 0, NULL},
    [SEAM_PLAN] = {sizeof(struct seam_plan), SEAM_DESCRIPTORS_MAX, NULL},
    [SEAM_GO] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_WAITING] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_READY] = {sizeof(struct seam_ready), 0, ready_fields},
    [SEAM_FAILED] = {sizeof(struct seam_failed), 0, failed_fields},
    [SEAM_STARTED] = {sizeof(struct seam_started), 0, NULL},
    [SEAM_EXITED] = {sizeof(struct seam_exited), 0, NULL},
    [SEAM_TOLD] = {sizeof(struct seam_told), 0, told_fields},
    [SEAM_DOORWAY] = {sizeof(struct seam_end), DOOR_LISTENERS_MAX, NULL},
    [SEAM_CHECK] = {sizeof(struct seam_check), SEAM_DESCRIPTORS_MAX, check_fields},
    [SEAM_CHECKED] = {sizeof(struct seam_checked), 0, NULL},
    [SEAM_OPEN] = {sizeof(struct seam_open), 0, open_fields},
    [SEAM_OPENED] = {sizeof(struct seam_opened), 1, opened_fields},
    [SEAM_FIND] = {sizeof(struct seam_find), 0, find_fields},
    [SEAM_TRAIL] = {sizeof(struct seam_trail), 1, trail_fields},
    [SEAM_READ] = {sizeof(struct seam_read), 3, read_fields},
    [SEAM_FOUND] = {sizeof(struct seam_found), 0, found_fields},
    [SEAM_BEAR] = {sizeof(struct seam_bear), 2, NULL},
    [SEAM_BORN] = {sizeof(struct seam_born), 1, NULL},
    [SEAM_MAPPED] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_MAKE] = {sizeof(struct seam_make), 1, make_fields},
    [SEAM_MADE] = {sizeof(struct seam_made), 1, NULL},
    [SEAM_IMAGE] = {sizeof(struct seam_image), 0, image_fields},
    [SEAM_ASK_IMAGE_ADD] = {sizeof(struct seam_ask_image), 1, ask_image_fields},
    [SEAM_ASK_IMAGES] = {sizeof(struct seam_ask_image), 0, ask_image_fields},
    [SEAM_ASK_IMAGE_RM] = {sizeof(struct seam_ask_image), 0, ask_image_fields},
    [SEAM_ASK_IMAGE_GC] = {sizeof(struct seam_ask_image), 0, ask_image_fields},
    [SEAM_PROBED] = {sizeof(struct seam_probed), 0, probed_fields},
    [SEAM_HEARD] = {sizeof(struct seam_heard), 0, heard_fields},
    [SEAM_HEARD_DOMAIN] = {sizeof(struct seam_heard_domain), 0, NULL},
    [SEAM_HEARD_LOST] = {sizeof(struct seam_heard_lost), 0, NULL},
    [SEAM_HEARD_CHANGE] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_HEARD_OUT] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_HEAR_OUT] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_DIAL] = {sizeof(struct seam_dial), 0, dial_fields},
    [SEAM_DIALED] = {sizeof(struct seam_door_socket), 1, NULL},
    [SEAM_DOOR_SERVE] = {sizeof(struct seam_door), SEAM_DESCRIPTORS_MAX, door_fields},
    [SEAM_DOOR_ALLOW] = {sizeof(struct seam_host), 0, host_fields},
    [SEAM_DOOR_DENY] = {sizeof(struct seam_host), 0, host_fields},
    [SEAM_DOOR_SOCKET] = {sizeof(struct seam_door_socket), 1, NULL},
    [SEAM_DOOR_END] = {sizeof(struct seam_end), 0, NULL},
    [SEAM_DOOR_READY] = {sizeof(struct seam_failed), 0, failed_fields},
    [SEAM_DOOR_TOLD] = {sizeof(struct seam_event), 0, event_fields},
    [SEAM_DOOR_DIAL] = {sizeof(struct seam_door_dial), 0, NULL},
};

const struct seam_type_form *seam_type_form(uint16_t type)
{
    if (type >= SEAM_UNPACK)
        return unpacker_form(type);
    if (type >= sizeof(forms) / sizeof(forms[0]) || forms[type].fixed_size == 0)
        return NULL;
    return &forms[type];
}
