/* ledger_schema.h - the tables of ledger.db.  Append columns and raise LEDGER_VERSION; never change
 * the meaning of one. */
#pragma once

#define LEDGER_VERSION 1

static const char ledger_schema[] =
    "CREATE TABLE IF NOT EXISTS leg ("
    " id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, gid INTEGER NOT NULL, user TEXT,"
    " vendor TEXT, boundary INTEGER, view INTEGER, net INTEGER, directory TEXT,"
    " argv BLOB, grants BLOB," /* strings, each with its NUL */
    " detach INTEGER, tasks INTEGER, memory INTEGER, cpu_percent INTEGER, wall_ms INTEGER,"
    " output INTEGER, files INTEGER, rule TEXT, claims TEXT," /* "slug=rung+rung ..." */
    " asked_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL DEFAULT 0,"
    " colour INTEGER NOT NULL DEFAULT 0, wait_status INTEGER NOT NULL DEFAULT -1,"
    " client_status INTEGER NOT NULL DEFAULT -1, wall_us INTEGER NOT NULL DEFAULT 0,"
    " kept TEXT) STRICT;"
    "CREATE INDEX IF NOT EXISTS leg_open ON leg (ended_ms) WHERE ended_ms = 0;"
    "CREATE TABLE IF NOT EXISTS reason ("
    " leg INTEGER NOT NULL, n INTEGER NOT NULL, slug TEXT NOT NULL, detail TEXT,"
    " PRIMARY KEY (leg, n)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS event ("
    " leg INTEGER NOT NULL, at_ms INTEGER NOT NULL, kind INTEGER NOT NULL, reason TEXT,"
    " a INTEGER, b INTEGER, c INTEGER, subject TEXT, detail TEXT) STRICT;"
    "CREATE INDEX IF NOT EXISTS event_leg ON event (leg);"
    "CREATE TABLE IF NOT EXISTS intent ("
    " leg INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, dev INTEGER NOT NULL,"
    " ino INTEGER NOT NULL, directory TEXT NOT NULL, path TEXT NOT NULL) STRICT;"
    "CREATE INDEX IF NOT EXISTS intent_leg ON intent (leg);"
    "CREATE TABLE IF NOT EXISTS boundary ("
    " leg INTEGER PRIMARY KEY, areas BLOB NOT NULL) STRICT;" /* strings, each with its NUL: why.h */
    "CREATE TABLE IF NOT EXISTS machine ("
    " id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, took_us INTEGER NOT NULL, kernel TEXT,"
    " distribution TEXT, boot_id TEXT, host TEXT, version TEXT, command TEXT) STRICT;"
    "CREATE TABLE IF NOT EXISTS rung ("
    " machine INTEGER NOT NULL, rung TEXT NOT NULL, facet TEXT NOT NULL, state TEXT NOT NULL,"
    " error INTEGER, value INTEGER, detail TEXT, PRIMARY KEY (machine, rung, facet))"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS image ("
    " name TEXT PRIMARY KEY, owner INTEGER NOT NULL, digest TEXT NOT NULL, architecture TEXT,"
    " user TEXT, directory TEXT, env BLOB, entrypoint BLOB, command BLOB," /* blobs as above */
    " added_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS layer (" /* name: in the store */
    " name TEXT PRIMARY KEY, owner INTEGER NOT NULL, digest TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, entries INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS image_layer ("
    " image TEXT NOT NULL, n INTEGER NOT NULL, layer TEXT NOT NULL,"
    " PRIMARY KEY (image, n)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS image_layer_layer ON image_layer (layer);"
    "CREATE TABLE IF NOT EXISTS image_account ("
    " image TEXT NOT NULL, is_group INTEGER NOT NULL, name TEXT NOT NULL, id INTEGER NOT NULL,"
    " gid INTEGER NOT NULL, UNIQUE (image, is_group, name)) STRICT;"
    "CREATE TABLE IF NOT EXISTS image_add (" /* under way */
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, owner INTEGER NOT NULL,"
    " began_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS leg_image ("
    " leg INTEGER PRIMARY KEY, image TEXT NOT NULL, digest TEXT NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS cell ("
    " id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, verdict INTEGER NOT NULL DEFAULT 0,"
    " silent INTEGER NOT NULL DEFAULT 0, arm INTEGER NOT NULL DEFAULT 0,"
    " newest INTEGER NOT NULL DEFAULT 0," /* 1; 2: it was begun and not ended */
    " begun_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL DEFAULT 0"
#define CELL_TEXT(name, max) ", " #name " TEXT NOT NULL DEFAULT ''"
#include "cell_texts.def"
#undef CELL_TEXT
    ") STRICT;"
    "CREATE INDEX IF NOT EXISTS cell_newest ON cell (id) WHERE newest > 0;"
    "CREATE INDEX IF NOT EXISTS cell_kind ON cell"
    " (vendor, boundary, origin, newest, sandbox, vendor_version) WHERE newest > 0;"
    "CREATE INDEX IF NOT EXISTS cell_version ON cell (vendor, id, vendor_version)"
    " WHERE newest > 0 AND origin = '' AND vendor_version != '';"
    "CREATE TABLE IF NOT EXISTS arm ("
    " cell INTEGER NOT NULL, arm INTEGER NOT NULL, leg INTEGER NOT NULL, outcome INTEGER NOT NULL,"
    " status INTEGER NOT NULL, begun_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, command TEXT,"
    " detail TEXT, output TEXT, events TEXT, PRIMARY KEY (cell, arm)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS note (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";
