/* policies.h - reading the policy files into rules. */
#pragma once

#include "warden.h"

/* Reads options.policies, or every *.policy of options.policy_directory in the order of their
 * names. All or nothing: on any error, which is logged with file and line, *RET is untouched.  No
 * file at all is an error: nobody could do anything, and that is never what was meant. */
int policies_read(const struct options *options, struct policy *ret);
