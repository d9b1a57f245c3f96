#include "policies.h"

#include "accounts.h"
#include "descriptor.h"
#include "folder.h"
#include "log.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define POLICY_FILE_MAX (1024 * 1024)

static int find_user(void *context, const char *name, uint32_t *ret_uid)
{
    return account_uid(name, ret_uid);
}

static int find_group(void *context, const char *name, uint32_t *ret_gid)
{
    return account_gid(name, ret_gid);
}

static int read_one(struct policy *policy, const char *file)
{
    static const struct name_resolver resolver = {.user = find_user, .group = find_group};
    struct strict_ini_error error = {0};
    auto_free char *text = NULL;
    int r;

    r = descriptor_read_file(AT_FDCWD, file, POLICY_FILE_MAX, &text);
    if (r < 0) {
        log_error("policy %s: cannot be read: %s", file, strerror(-r));
        return r;
    }
    r = policy_parse(policy, file, text, &resolver, &error);
    if (r < 0)
        log_error("policy %s:%u: %s", file, error.line, error.message);
    return r;
}

static int read_directory(struct policy *policy, const char *directory)
{
    glob_t found;
    int r =
        folder_files(directory, ".policy", "policy", "put one there, see saphan.policy(5)", &found);

    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
        r = read_one(policy, found.gl_pathv[i]);
    globfree(&found);
    return r;
}

/* A switch for tests alone: who finds it in a policy copied from somewhere must not start with it.
 */
static int refuse_test_only(const struct options *options, const struct policy *policy)
{
    for (size_t i = 0; i < policy->n_rules && !options->private_directory; i++) {
        if (!policy->rules[i].test_only_nested)
            continue;
        log_error("policy %s:%u: Test-Only-Start-With-Nested-Sandbox= is for a test's own daemon: "
                  "take it out",
            policy->rules[i].file, policy->rules[i].line);
        return -EINVAL;
    }
    return 0;
}

int policies_read(const struct options *options, struct policy *ret)
{
    struct policy policy = {0};
    int r = 0;

    if (options->n_policies == 0)
        r = read_directory(&policy, options->policy_directory);
    for (uint32_t i = 0; r == 0 && i < options->n_policies; i++)
        r = read_one(&policy, options->policies[i]);
    if (r == 0)
        r = refuse_test_only(options, &policy);
    if (r < 0) {
        policy_done(&policy);
        return r;
    }
    *ret = policy;
    return 0;
}
