#include "strict_ini.h"

#include "text.h"
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int strict_ini_error(struct strict_ini *ini, const char *format, ...)
{
    char message[2 * sizeof(ini->error.message)];
    va_list args;

    if (ini->result == 0) {
        ini->error.line = ini->line;
        va_start(args, format);
        (void)vsnprintf(message, sizeof(message), format, args);
        va_end(args);
        text_escape(message, ini->error.message, sizeof(ini->error.message));
        ini->result = -EINVAL;
    }
    return -EINVAL;
}

static int take_header(struct strict_ini *ini, const char *line, size_t length)
{
    auto_free char *inner = NULL;
    int r;

    while (length > 0 && strchr(" \t", line[length - 1]))
        length--;
    if (length < 3 || line[length - 1] != ']')
        return strict_ini_error(ini, "not a section: write %s", ini->first);
    inner = strndup(line + 1, length - 2);
    if (!inner) {
        ini->result = -ENOMEM;
        return -ENOMEM;
    }
    r = ini->section(ini, inner);
    ini->begun = true;
    return r;
}

static int check_key_line(struct strict_ini *ini, const char *line)
{
    if (!ini->begun)
        return strict_ini_error(ini, "a line before the first section: begin with %s", ini->first);
    if (line[0] == ' ' || line[0] == '\t')
        return strict_ini_error(ini, "a line that begins with white space: repeat the key instead");
    if (line[strcspn(line, "=:")] != '=')
        return strict_ini_error(ini, "not a `Key=value` line");
    if (strstr(line, " ;") || strstr(line, "\t;") || strstr(line, " #") || strstr(line, "\t#"))
        return strict_ini_error(ini, "a comment behind a value: put it on a line of its own");
    return 0;
}

static int check_line(struct strict_ini *ini, const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        if (c == '\r' && i + 1 == length)
            return strict_ini_error(ini, "a carriage return: save the file with Unix line ends");
        if (c == 0x7f || (c < 0x20 && c != '\t'))
            return strict_ini_error(ini, "a control character (byte %u): remove it", c);
    }
    if (strspn(line, " \t") == length || line[0] == '#' || line[0] == ';')
        return 0;
    return line[0] == '[' ? take_header(ini, line, length) : check_key_line(ini, line);
}

/* inih's reader: hands over one line that has been looked at, or ends the reading. */
static char *read_line(char *buffer, int size, void *context)
{
    struct strict_ini *ini = context;
    size_t length = strcspn(ini->at, "\n");

    if (ini->result < 0 || !*ini->at)
        return NULL;
    ini->line++;
    if (length >= (size_t)size) {
        (void)strict_ini_error(
            ini, "a line of more than %d bytes: repeat the key on a line of its own", size - 1);
        return NULL;
    }
    memcpy(buffer, ini->at, length);
    buffer[length] = '\0';
    ini->at += length;
    if (*ini->at)
        ini->at++;
    return check_line(ini, buffer, length) < 0 ? NULL : buffer;
}

static int on_key(void *context, const char *section, const char *key, const char *value)
{
    struct strict_ini *ini = context;

    return ini->result == 0 && ini->key(ini, key, value) == 0;
}

int strict_ini_read(struct strict_ini *ini, const char *text)
{
    int r;

    ini->at = text;
    ini->line = 0;
    ini->result = 0;
    r = ini_parse_stream(read_line, ini, on_key, ini);
    if (r != 0 && ini->result == 0) {
        ini->line = r > 0 ? (unsigned int)r : 0;
        (void)strict_ini_error(ini, "not a line of an INI file: write Key=value");
    }
    return ini->result;
}

int strict_ini_word(struct strict_ini *ini, const char **at, char **ret_word)
{
    const char *begin = *at + strspn(*at, " \t");
    size_t length;

    if (!*begin)
        return 0;
    if (*begin == '"' || *begin == '\'') {
        const char quote[] = {*begin, '\0'};

        begin++;
        length = strcspn(begin, quote);
        if (begin[length] != quote[0] || !strchr(" \t", begin[length + 1]))
            return strict_ini_error(ini, "a quote that does not close: write \"one\" \"another\"");
        *at = begin + length + 1;
    } else {
        length = strcspn(begin, " \t");
        if (memchr(begin, '"', length))
            return strict_ini_error(ini, "a quote inside a word: put the whole word into quotes");
        *at = begin + length;
    }
    *ret_word = strndup(begin, length);
    if (!*ret_word) {
        ini->result = -ENOMEM;
        return -ENOMEM;
    }
    return 1;
}
