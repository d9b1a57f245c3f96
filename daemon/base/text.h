/* text.h - exact parsing and small string work.
 *
 * Parsing here is exact: the whole text is the value, or it is an error.  No sign, no white space,
 * no leading zero, no other base is let through (see CVE-2026-30892: "01", "0x1", "-1" as a uid).
 */
#pragma once

#include "own.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "0", "42".  -EINVAL when it is not a plain decimal number, -ERANGE when it is above MAX. */
int text_parse_uint(const char *text, uint64_t max, uint64_t *ret_value);

/* "512", "10K", "64M", "2G", "1T": powers of 1024, in bytes. -EINVAL, -ERANGE. */
int text_parse_size(const char *text, uint64_t *ret_bytes);

/* "500ms", "90s", "15m", "2h"; a bare number is seconds.  In milliseconds. -EINVAL, -ERANGE. */
int text_parse_duration(const char *text, uint64_t *ret_milliseconds);

/* 64 hexadecimal digits, either case. -EINVAL. */
int text_parse_sha256(const char *text, uint8_t ret_digest[32]);
void text_format_sha256(const uint8_t digest[32], char ret_text[65]);

/* "yes"/"no" and nothing else. -EINVAL. */
int text_parse_bool(const char *text, bool *ret_value);

bool text_equal(const char *a, const char *b);
bool text_starts_with(const char *text, const char *prefix);

/* True when PATH is PREFIX or lies beneath it, by whole components; both absolute, no "." or "..".
 */
bool text_path_beneath(const char *path, const char *prefix);

/* True for an absolute path without empty, "." or ".." components ("/" included). */
bool text_path_is_normal(const char *path);

/* asprintf that returns NULL instead of leaving its output undefined. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Copies TEXT into OUT with every byte that is not printable UTF-8-safe ASCII written as \xNN, so
 * that what a leg wrote cannot steer a terminal.  Always terminated; cut to SIZE. */
void text_escape(const char *text, char *out, size_t size);
/* The same with spaces too, for a word among others: what a leg is called cannot look like more. */
void text_escape_word(const char *text, char *out, size_t size);
