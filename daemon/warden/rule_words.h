/* rule_words.h - a rule as words, for `saphan status`. */
#pragma once

#include "capability.h"
#include "rule.h"

struct rule_words {
    char boundaries[64], views[64], nets[64], vendors[256], read[1024], write[1024], limits[256],
        hosts[1024], capabilities[CAPABILITIES_TEXT_MAX];
};

/* A list that does not fit ends with "...". */
void rule_words(const struct rule *rule, struct rule_words *ret);
