#include "folder.h"

#include "log.h"
#include "text.h"
#include <errno.h>

int folder_files(const char *directory, const char *ending, const char *what, const char *remedy,
    glob_t *ret_found)
{
    auto_free char *pattern = text_format("%s/*%s", directory, ending);
    glob_t found = {0};
    int r;

    if (!pattern)
        return -ENOMEM;
    r = glob(pattern, GLOB_ERR, NULL, &found);
    if (r != 0) {
        log_error("%s: %s: %s: %s", what, pattern,
            r == GLOB_NOMATCH ? "no such file" : "cannot be read", remedy);
        return r == GLOB_NOMATCH ? -ENOENT : -EIO;
    }
    *ret_found = found;
    return 0;
}
