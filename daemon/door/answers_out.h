/* answers_out.h - what the door says to a program of the leg: short, plain, and at once. */
#pragma once

#include "passage.h"
#include "socks5.h"

/* "it asked by CONNECT": how the program asked. */
const char *answer_way_name(const struct passage *passage);

/* "address=192.0.2.1 rule=*.example.org:443 way=connect". */
void answer_describe(const struct passage *passage, char *out, size_t size);

/* The way stands.  -errno. */
int answer_good(struct passage *passage);
void answer_refusal(
    struct passage *passage, enum reason reason, const char *subject, const char *detail);
void answer_greeting(struct passage *passage, bool good);
void answer_socks(struct passage *passage, enum socks5_reply reply);
