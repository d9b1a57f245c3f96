#include "ledger_images.h"

#include "clock.h"
#include "ledger_private.h"
#include "ledger_statement.h"
#include "text.h"
#include <errno.h>
#include <string.h>

static void bind_number(sqlite3_stmt *s, int at, uint64_t value)
{
    (void)sqlite3_bind_int64(s, at, (int64_t)value);
}

static void bind_block(sqlite3_stmt *s, int at, const struct string_block *block)
{
    (void)sqlite3_bind_blob(
        s, at, block->size ? block->bytes : "", (int)block->size, SQLITE_TRANSIENT);
}

static void bind_digest(sqlite3_stmt *s, int at, const uint8_t digest[DIGEST_BYTES])
{
    char text[65];

    text_format_sha256(digest, text);
    bind_text(s, at, text);
}

static int take_text(sqlite3_stmt *s, int column, char **ret)
{
    const char *text = (const char *)sqlite3_column_text(s, column);

    *ret = strdup(text ? text : "");
    return *ret ? 0 : -ENOMEM;
}

/* Of one that is not terminated the last string is left out: it was not written by us. */
static int take_block(sqlite3_stmt *s, int column, struct string_block *ret)
{
    const char *bytes = sqlite3_column_blob(s, column);
    size_t size = (size_t)sqlite3_column_bytes(s, column);

    while (size > 0 && bytes[size - 1] != '\0')
        size--;
    ret->bytes = malloc(size + 1);
    if (!ret->bytes)
        return -ENOMEM;
    if (size > 0)
        memcpy(ret->bytes, bytes, size);
    ret->size = (uint32_t)size;
    ret->count = 0;
    for (size_t i = 0; i < size; i++)
        ret->count += bytes[i] == '\0';
    return 0;
}

void image_record_done(struct image_record *image)
{
    free(image->name);
    free(image->architecture);
    free(image->user);
    free(image->directory);
    free(image->env.bytes);
    free(image->entrypoint.bytes);
    free(image->command.bytes);
    for (uint32_t i = 0; i < image->n_layers; i++)
        free(image->layers[i]);
    *image = (struct image_record){0};
}

/* ---- adding ---- */

int ledger_image_add_begin(
    struct ledger *ledger, const char *name, uint32_t owner, uint64_t *ret_id)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = ledger_begin_durable(ledger);

    if (r == 0)
        r = prepare(ledger, "INSERT INTO image_add (name, owner, began_ms) VALUES (?,?,?)", &s);
    if (r == 0) {
        bind_text(s, 1, name);
        bind_number(s, 2, owner);
        bind_number(s, 3, (uint64_t)clock_wall_ms());
        r = ledger_error(sqlite3_step(s));
    }
    *ret_id = (uint64_t)sqlite3_last_insert_rowid(ledger->db);
    return ledger_end_durable(ledger, r);
}

static int run_for(struct ledger *ledger, const char *sql, uint64_t number, const char *text)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, sql, &s);

    if (r < 0)
        return r;
    if (text)
        bind_text(s, 1, text);
    else
        bind_number(s, 1, number);
    return ledger_error(sqlite3_step(s));
}

void ledger_image_add_end(struct ledger *ledger, uint64_t id)
{
    if (ledger_begin_durable(ledger) == 0)
        (void)ledger_end_durable(
            ledger, run_for(ledger, "DELETE FROM image_add WHERE id=?", id, NULL));
}

int ledger_image_adds_forget(struct ledger *ledger)
{
    return ledger_error(sqlite3_exec(ledger->db, "DELETE FROM image_add", NULL, NULL, NULL));
}

static int forget_image(struct ledger *ledger, const char *name)
{
    int r = run_for(ledger, "DELETE FROM image WHERE name=?", 0, name);

    if (r == 0)
        r = run_for(ledger, "DELETE FROM image_layer WHERE image=?", 0, name);
    if (r == 0)
        r = run_for(ledger, "DELETE FROM image_account WHERE image=?", 0, name);
    return r;
}

static int insert_image(struct ledger *ledger, const struct image_record *image)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "INSERT INTO image VALUES (?,?,?,?,?,?,?,?,?,?)", &s);

    if (r < 0)
        return r;
    bind_text(s, 1, image->name);
    bind_number(s, 2, image->owner);
    bind_digest(s, 3, image->digest);
    bind_text(s, 4, image->architecture);
    bind_text(s, 5, image->user);
    bind_text(s, 6, image->directory);
    bind_block(s, 7, &image->env);
    bind_block(s, 8, &image->entrypoint);
    bind_block(s, 9, &image->command);
    bind_number(s, 10, (uint64_t)image->added_ms);
    return ledger_error(sqlite3_step(s));
}

static int insert_layers(struct ledger *ledger, const struct image_record *image,
    const struct layer_record *layers, uint32_t n_layers)
{
    auto_(finalize) sqlite3_stmt *s = NULL, *in_image = NULL;
    int r = prepare(ledger, "INSERT OR IGNORE INTO layer VALUES (?,?,?,?,?)", &s);

    if (r == 0)
        r = prepare(ledger, "INSERT INTO image_layer VALUES (?,?,?)", &in_image);
    for (uint32_t i = 0; r == 0 && i < n_layers; i++) {
        bind_text(s, 1, layers[i].name);
        bind_number(s, 2, layers[i].owner);
        bind_digest(s, 3, layers[i].digest);
        bind_number(s, 4, layers[i].bytes);
        bind_number(s, 5, layers[i].entries);
        r = ledger_error(sqlite3_step(s));
        (void)sqlite3_reset(s);
    }
    for (uint32_t i = 0; r == 0 && i < image->n_layers; i++) {
        bind_text(in_image, 1, image->name);
        bind_number(in_image, 2, i);
        bind_text(in_image, 3, image->layers[i]);
        r = ledger_error(sqlite3_step(in_image));
        (void)sqlite3_reset(in_image);
    }
    return r;
}

static int insert_accounts(struct ledger *ledger, const char *image,
    const struct account_record *accounts, uint32_t n_accounts)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int r = prepare(ledger, "INSERT OR IGNORE INTO image_account VALUES (?,?,?,?,?)", &s);

    for (uint32_t i = 0; r == 0 && i < n_accounts; i++) {
        bind_text(s, 1, image);
        bind_number(s, 2, accounts[i].group);
        bind_text(s, 3, accounts[i].name);
        bind_number(s, 4, accounts[i].id);
        bind_number(s, 5, accounts[i].gid);
        r = ledger_error(sqlite3_step(s));
        (void)sqlite3_reset(s);
    }
    return r;
}

int ledger_image_put(struct ledger *ledger, uint64_t id, const struct image_record *image,
    const struct layer_record *layers, uint32_t n_layers, const struct account_record *accounts,
    uint32_t n_accounts)
{
    int r = ledger_begin_durable(ledger);

    if (r < 0)
        return r;
    r = forget_image(ledger, image->name);
    if (r == 0)
        r = insert_image(ledger, image);
    if (r == 0)
        r = insert_layers(ledger, image, layers, n_layers);
    if (r == 0)
        r = insert_accounts(ledger, image->name, accounts, n_accounts);
    if (r == 0)
        r = run_for(ledger, "DELETE FROM image_add WHERE id=?", id, NULL);
    return ledger_end_durable(ledger, r);
}

int ledger_image_remove(struct ledger *ledger, const char *name)
{
    int r = ledger_begin_durable(ledger), gone;

    if (r < 0)
        return r;
    r = run_for(ledger, "DELETE FROM image WHERE name=?", 0, name);
    gone = sqlite3_changes(ledger->db);
    if (r == 0)
        r = forget_image(ledger, name);
    r = ledger_end_durable(ledger, r);
    return r < 0 ? r : gone > 0 ? 0 : -ENOENT;
}

/* ---- reading ---- */

static int read_layers(struct ledger *ledger, const char *name, struct image_record *ret)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r;

    r = prepare(ledger,
        "SELECT layer, bytes, entries, EXISTS (SELECT 1 FROM image_layer o"
        " WHERE o.layer = i.layer AND o.image <> i.image) FROM image_layer i JOIN layer l ON "
        "l.name = i.layer"
        " WHERE image=? ORDER BY n",
        &s);
    if (r < 0)
        return r;
    bind_text(s, 1, name);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t bytes = (uint64_t)sqlite3_column_int64(s, 1);

        if (ret->n_layers == IMAGE_LAYERS_MAX)
            return -E2BIG;
        r = take_text(s, 0, &ret->layers[ret->n_layers]);
        if (r < 0)
            return r;
        ret->n_layers++;
        ret->bytes += bytes;
        ret->entries += (uint64_t)sqlite3_column_int64(s, 2);
        if (sqlite3_column_int64(s, 3))
            ret->shared_bytes += bytes;
    }
    return ledger_error(code);
}

static int read_image(sqlite3_stmt *s, struct image_record *ret)
{
    const char *digest = (const char *)sqlite3_column_text(s, 2);
    int r = take_text(s, 0, &ret->name);

    ret->owner = (uint32_t)sqlite3_column_int64(s, 1);
    ret->added_ms = sqlite3_column_int64(s, 9);
    if (r == 0)
        r = digest ? text_parse_sha256(digest, ret->digest) : -EINVAL;
    if (r == 0)
        r = take_text(s, 3, &ret->architecture);
    if (r == 0)
        r = take_text(s, 4, &ret->user);
    if (r == 0)
        r = take_text(s, 5, &ret->directory);
    if (r == 0)
        r = take_block(s, 6, &ret->env);
    if (r == 0)
        r = take_block(s, 7, &ret->entrypoint);
    return r == 0 ? take_block(s, 8, &ret->command) : r;
}

int ledger_image_get(struct ledger *ledger, const char *name, struct image_record *ret)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    struct image_record image = {0};
    int code, r = prepare(ledger, "SELECT * FROM image WHERE name=?", &s);

    if (r < 0)
        return r;
    bind_text(s, 1, name);
    code = sqlite3_step(s);
    if (code == SQLITE_DONE)
        return -ENOENT;
    if (code != SQLITE_ROW)
        return ledger_error(code);
    r = read_image(s, &image);
    if (r == 0)
        r = read_layers(ledger, name, &image);
    if (r < 0) {
        image_record_done(&image);
        return r;
    }
    *ret = image;
    return 0;
}

void string_list_free(char **list)
{
    for (char **at = list; list && *at; at++)
        free(*at);
    free(list);
}

static int read_names(struct ledger *ledger, const char *sql, char ***ret)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    size_t count = 0, room = 16;
    char **list = calloc(room, sizeof(*list)), **more;
    int code = SQLITE_DONE, r = list ? prepare(ledger, sql, &s) : -ENOMEM;

    while (r == 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
        if (count + 1 == room) {
            more = reallocarray(list, room * 2, sizeof(*list));
            if (!more) {
                r = -ENOMEM;
                break;
            }
            list = more;
            room *= 2;
        }
        r = take_text(s, 0, &list[count]);
        if (r == 0)
            list[++count] = NULL;
    }
    if (r == 0)
        r = ledger_error(code);
    if (r < 0) {
        string_list_free(list);
        return r;
    }
    *ret = list;
    return 0;
}

int ledger_image_next(struct ledger *ledger, char after[IMAGE_NAME_MAX + 1])
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code,
        r = prepare(ledger, "SELECT name FROM image WHERE name > ? ORDER BY name LIMIT 1", &s);

    if (r < 0)
        return r;
    bind_text(s, 1, after);
    code = sqlite3_step(s);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? -ENOENT : ledger_error(code);
    if (sqlite3_column_bytes(s, 0) > IMAGE_NAME_MAX)
        return -EIO;
    (void)strcpy(after, (const char *)sqlite3_column_text(s, 0));
    return 0;
}

int ledger_image_account(struct ledger *ledger, const char *image, bool group, const char *name,
    uint32_t *ret_id, uint32_t *ret_gid)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r;

    r = prepare(
        ledger, "SELECT id, gid FROM image_account WHERE image=? AND is_group=? AND name=?", &s);
    if (r < 0)
        return r;
    bind_text(s, 1, image);
    bind_number(s, 2, group);
    bind_text(s, 3, name);
    code = sqlite3_step(s);
    if (code == SQLITE_DONE)
        return -ENOENT;
    if (code != SQLITE_ROW)
        return ledger_error(code);
    *ret_id = (uint32_t)sqlite3_column_int64(s, 0);
    *ret_gid = (uint32_t)sqlite3_column_int64(s, 1);
    return 0;
}

int ledger_image_uid(
    struct ledger *ledger, const char *image, uint32_t uid, uint32_t *ret_gid, char **ret_name)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r;

    r = prepare(ledger,
        "SELECT gid, name FROM image_account WHERE image=? AND is_group=0 AND id=?"
        " ORDER BY rowid LIMIT 1",
        &s);
    if (r < 0)
        return r;
    bind_text(s, 1, image);
    bind_number(s, 2, uid);
    code = sqlite3_step(s);
    if (code == SQLITE_DONE)
        return -ENOENT;
    if (code != SQLITE_ROW)
        return ledger_error(code);
    *ret_gid = (uint32_t)sqlite3_column_int64(s, 0);
    return take_text(s, 1, ret_name);
}

/* ---- layers ---- */

int ledger_layer_find(
    struct ledger *ledger, const uint8_t digest[DIGEST_BYTES], uint32_t owner, char **ret_name)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r;

    r = prepare(ledger,
        "SELECT name FROM layer WHERE digest=? AND owner IN (?,0) ORDER BY owner DESC LIMIT 1", &s);
    if (r < 0)
        return r;
    bind_digest(s, 1, digest);
    bind_number(s, 2, owner);
    code = sqlite3_step(s);
    if (code == SQLITE_DONE)
        return -ENOENT;
    return code == SQLITE_ROW ? take_text(s, 0, ret_name) : ledger_error(code);
}

int ledger_layer_known(struct ledger *ledger, const char *name)
{
    auto_(finalize) sqlite3_stmt *s = NULL;
    int code, r = prepare(ledger, "SELECT 1 FROM layer WHERE name=?", &s);

    if (r < 0)
        return r;
    bind_text(s, 1, name);
    code = sqlite3_step(s);
    return code == SQLITE_ROW ? 1 : ledger_error(code);
}

int ledger_layers_unused(struct ledger *ledger, char ***ret)
{
    return read_names(
        ledger, "SELECT name FROM layer WHERE name NOT IN (SELECT layer FROM image_layer)", ret);
}

int ledger_layer_forget(struct ledger *ledger, const char *name)
{
    int r = ledger_begin_durable(ledger);

    if (r == 0)
        r = ledger_end_durable(ledger, run_for(ledger, "DELETE FROM layer WHERE name=?", 0, name));
    return r;
}
