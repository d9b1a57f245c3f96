#include "capability.h"

#include "own.h"
#include "text.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned int number;
} known[] = {
    {"CAP_CHOWN", CAP_CHOWN},
    {"CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE},
    {"CAP_FOWNER", CAP_FOWNER},
    {"CAP_FSETID", CAP_FSETID},
    {"CAP_NET_BIND_SERVICE", CAP_NET_BIND_SERVICE},
};

int capability_parse(const char *name, uint64_t *ret_bit)
{
    for (size_t i = 0; i < array_size(known); i++) {
        if (text_equal(known[i].name, name)) {
            *ret_bit = UINT64_C(1) << known[i].number;
            return 0;
        }
    }
    return -EINVAL;
}

uint64_t capabilities_known(void)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < array_size(known); i++)
        bits |= UINT64_C(1) << known[i].number;
    return bits;
}

void capabilities_format(uint64_t bits, char out[CAPABILITIES_TEXT_MAX])
{
    size_t at = 0;

    (void)snprintf(out, CAPABILITIES_TEXT_MAX, "none");
    for (size_t i = 0; i < array_size(known); i++) {
        if (bits & UINT64_C(1) << known[i].number)
            at += (size_t)snprintf(
                out + at, CAPABILITIES_TEXT_MAX - at, "%s%s", at ? " " : "", known[i].name);
    }
}
