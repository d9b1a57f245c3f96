/* admit_paths.c - the leg's directory, its carve-outs and its artefacts, each placed in a grant.
 *
 * Paths are compared by name: the grants' are the kernel's own names of their descriptors, and
 * what is relative to them is opened beneath those descriptors without following links, so a name
 * that lies can only fail to open.
 *
 * Git.  With --git a leg writes what a commit writes: objects, refs, logs, index, HEAD.  What would
 * make the host's git run a program or look elsewhere stays read-only, and does not come to exist:
 *   config, config.worktree   filters, hooks path, file system monitor, ssh command, aliases
 *   hooks                     programs
 *   commondir                 where the rest of the repository is, its config included
 *   worktrees                 the same for each linked worktree (commondir, config.worktree)
 *   modules                   whole repositories of submodules
 *   info                      attributes, exclude, grafts: what the host's git is not to see
 *   remotes, branches         old-style remotes: where a fetch goes
 *   objects/info/alternates   further object stores
 * Tried with git 2.39: an empty directory in the place of hooks, info, modules, worktrees, remotes
 * and branches changes nothing; as commondir it is fatal to every git command, and so is an empty
 * file, while a commondir of "." names the repository itself; as config.worktree (where that
 * extension is on) and alternates a directory makes git warn on each command, an empty file does
 * not.
 */
#include "admit_parts.h"

#include "text.h"
#include <string.h>

struct placer {
    const struct request *request;
    struct decision *decision;
    struct refusals *refusals;
};

const struct default_carve_out default_carve_outs[] = {
    {".git", CARVE_OUT_ALWAYS},
    {".codex", CARVE_OUT_ALWAYS},
    {".agents", CARVE_OUT_ALWAYS},
    {".claude", CARVE_OUT_ALWAYS},
    {".qwen", CARVE_OUT_IF_PRESENT},
    {".gemini", CARVE_OUT_IF_PRESENT},
    {".factory", CARVE_OUT_IF_PRESENT},
    {".copilot", CARVE_OUT_IF_PRESENT},
    {".opencode", CARVE_OUT_IF_PRESENT},
    {".mcp.json", CARVE_OUT_IF_PRESENT},
    {".vscode", CARVE_OUT_IF_PRESENT},
    {NULL, CARVE_OUT_ALWAYS},
};

/* A repository, or the common directory of a linked worktree. */
static const struct default_carve_out repository_carve_outs[] = {
    {"config", CARVE_OUT_ALWAYS_FILE},
    {"config.worktree", CARVE_OUT_ALWAYS_FILE},
    {"commondir", CARVE_OUT_ALWAYS_HERE},
    {"hooks", CARVE_OUT_ALWAYS},
    {"info", CARVE_OUT_ALWAYS},
    {"worktrees", CARVE_OUT_ALWAYS},
    {"modules", CARVE_OUT_ALWAYS},
    {"remotes", CARVE_OUT_ALWAYS},
    {"branches", CARVE_OUT_ALWAYS},
    {"objects/info/alternates", CARVE_OUT_ALWAYS_FILE},
    {NULL, CARVE_OUT_ALWAYS},
};

/* The main worktree's own, in the common directory of a linked one. */
static const struct default_carve_out main_worktree_carve_outs[] = {
    {"HEAD", CARVE_OUT_IF_PRESENT},
    {"index", CARVE_OUT_IF_PRESENT},
    {NULL, CARVE_OUT_ALWAYS},
};

/* The git directory of a linked worktree; `gitdir` is what proves that it belongs to it. */
static const struct default_carve_out worktree_carve_outs[] = {
    {"commondir", CARVE_OUT_ALWAYS_FILE},
    {"gitdir", CARVE_OUT_ALWAYS_FILE},
    {"config.worktree", CARVE_OUT_ALWAYS_FILE},
    {"info", CARVE_OUT_ALWAYS},
    {"modules", CARVE_OUT_ALWAYS},
    {NULL, CARVE_OUT_ALWAYS},
};

/* -- names -- */

/* BASE/PATH, or PATH when it is absolute, without ".", "..", "//"; ".." at the root is the root. */
char *join_normal(const char *base, const char *path)
{
    char *out = path[0] == '/' ? text_format("%s", path) : text_format("%s/%s", base, path);
    size_t end = 0;

    if (!out)
        return NULL;
    for (const char *at = out; *at;) {
        size_t length;

        at += strspn(at, "/");
        length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            while (end > 0 && out[--end] != '/')
                continue;
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            /* Never grows: END is at most one "/" short of where AT stands. */
            out[end++] = '/';
            memmove(out + end, at, length);
            end += length;
        }
        at += length;
    }
    if (end == 0)
        out[end++] = '/';
    out[end] = '\0';
    return out;
}

/* Hands TEXT (which may be NULL: out of memory) over to the decision.  NULL after a refusal. */
static const char *keep(struct placer *placer, char *text)
{
    struct decision *decision = placer->decision;

    if (!text || decision->n_texts == DECISION_TEXTS_MAX) {
        free(text);
        refuse(placer->refusals, REASON_OUT_OF_RESOURCES, "no memory for the paths of the request");
        return NULL;
    }
    decision->texts[decision->n_texts++] = text;
    return text;
}

/* What of PATH stands behind PREFIX, which covers it: "" for PREFIX itself. */
static const char *behind(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);

    if (length == 1)
        return path + 1;
    return path[length] ? path + length + 1 : path + length;
}

static const struct grant *grant_of_kind(const struct request *request, enum grant_kind kind)
{
    for (uint32_t i = 0; i < request->n_grants; i++) {
        if (request->grants[i].kind == kind)
            return &request->grants[i];
    }
    return NULL;
}

static bool grant_covers(const struct grant *grant, const char *path)
{
    return grant->directory ? text_path_beneath(path, grant_place(grant))
                            : text_equal(path, grant_place(grant));
}

/* The deepest grant that covers PATH, a write grant before a read grant of the same path; -1. */
static int deepest(const struct request *request, const char *path, bool write_only)
{
    int best = -1;

    for (uint32_t i = 0; i < request->n_grants; i++) {
        const struct grant *grant = &request->grants[i];
        size_t length, best_length;

        if ((write_only && !grant_writes(grant->kind)) || !grant_covers(grant, path))
            continue;
        length = strlen(grant_place(grant));
        best_length = best < 0 ? 0 : strlen(grant_place(&request->grants[best]));
        if (length > best_length || (length == best_length && grant_writes(grant->kind) &&
                                        !grant_writes(request->grants[best].kind)))
            best = (int)i;
    }
    return best;
}

/* -- carve-outs -- */

static bool never_exists(enum carve_out_kind kind)
{
    return kind == CARVE_OUT_ALWAYS || kind == CARVE_OUT_ALWAYS_FILE ||
           kind == CARVE_OUT_ALWAYS_HERE;
}

static unsigned int strictness(enum carve_out_kind kind)
{
    return never_exists(kind) ? 2 : kind == CARVE_OUT_IF_PRESENT;
}

static struct carve_out *find(struct decision *decision, uint32_t grant, const char *path)
{
    for (uint32_t i = 0; i < decision->n_carve_outs; i++) {
        struct carve_out *carve_out = &decision->carve_outs[i];

        if (carve_out->grant == grant && text_equal(carve_out->path, path))
            return carve_out;
    }
    return NULL;
}

/* The same path twice: the stricter kind holds. */
static void add(struct placer *placer, uint32_t grant, const char *path, enum carve_out_kind kind)
{
    struct decision *decision = placer->decision;
    struct carve_out *there = find(decision, grant, path);
    const char *kept;

    if (there) {
        if (strictness(kind) > strictness(there->kind))
            there->kind = kind;
        return;
    }
    if (decision->n_carve_outs == CARVE_OUTS_MAX) {
        refuse(placer->refusals, REASON_REQUEST_TOO_BIG,
            "%.150s: more than %d carve-outs, the workspace's own among them", path,
            CARVE_OUTS_MAX);
        return;
    }
    kept = keep(placer, strdup(path));
    if (kept)
        decision->carve_outs[decision->n_carve_outs++] = (struct carve_out){kind, grant, kept};
}

/* Puts a carve-out into each write grant through which the leg would see PATH: the deepest, and
 * those that name the same directory again. */
static void place(struct placer *placer, const char *path, enum carve_out_kind kind, bool requested)
{
    const struct request *request = placer->request;
    int writer = deepest(request, path, true);
    int reader = deepest(request, path, false);
    const char *rest;

    if (writer < 0) {
        refuse(placer->refusals, REASON_CARVE_OUT_OUTSIDE_GRANTS,
            "asked: carve-out %.150s; no write grant covers it", path);
        return;
    }
    if (!grant_writes(request->grants[reader].kind)) {
        /* A read grant lies over it: nothing can be written there, as long as what leads there
         * cannot be moved away. */
        path = grant_place(&request->grants[reader]);
        kind = CARVE_OUT_ALWAYS;
    }
    rest = behind(path, grant_place(&request->grants[writer]));
    if (!*rest && requested)
        refuse(placer->refusals, REASON_CARVE_OUT_OUTSIDE_GRANTS,
            "asked: carve-out %.150s; it is the write grant itself: grant it with --read", path);
    else if (!*rest)
        refuse(placer->refusals, REASON_CARVE_OUT_UNENFORCEABLE,
            "asked: %s %.150s; that is a carve-out of the workspace",
            grant_kind_name(request->grants[writer].kind), path);
    if (!*rest)
        return;
    for (uint32_t i = 0; i < request->n_grants; i++) {
        if (grant_writes(request->grants[i].kind) &&
            text_equal(grant_place(&request->grants[i]), grant_place(&request->grants[writer])))
            add(placer, i, rest, kind);
    }
}

static void place_in(struct placer *placer, const char *base, const char *path,
    enum carve_out_kind kind, bool requested)
{
    auto_free char *absolute = join_normal(base, path);

    if (absolute)
        place(placer, absolute, kind, requested);
    else
        refuse(placer->refusals, REASON_OUT_OF_RESOURCES, "no memory for a carve-out");
}

static void place_list(
    struct placer *placer, const char *base, const struct default_carve_out *list)
{
    for (; list->name; list++)
        place_in(placer, base, list->name, list->kind, false);
}

/* The git directory lies outside the workspace: a linked worktree's, or a submodule's. */
static void place_git_grants(
    struct placer *placer, const struct grant *directory, const struct grant *common)
{
    bool linked = directory && common && !text_equal(grant_place(directory), grant_place(common));

    if (common) {
        place_list(placer, grant_place(common), repository_carve_outs);
        if (linked)
            place_list(placer, grant_place(common), main_worktree_carve_outs);
    }
    if (directory)
        place_list(
            placer, grant_place(directory), linked ? worktree_carve_outs : repository_carve_outs);
}

static void place_defaults(struct placer *placer, const struct grant *workspace)
{
    const struct grant *directory = grant_of_kind(placer->request, GRANT_GIT_DIR);
    const struct grant *common = grant_of_kind(placer->request, GRANT_GIT_COMMON);
    bool inside = placer->request->git && !directory && !common;

    for (const struct default_carve_out *at = default_carve_outs; at->name; at++) {
        bool pin = inside && text_equal(at->name, ".git");

        place_in(placer, grant_place(workspace), at->name, pin ? CARVE_OUT_PIN : at->kind, false);
    }
    if (inside) {
        auto_free char *git = join_normal(grant_place(workspace), ".git");

        if (git)
            place_list(placer, git, repository_carve_outs);
        else
            refuse(placer->refusals, REASON_OUT_OF_RESOURCES, "no memory for a carve-out");
    }
    if (placer->request->git)
        place_git_grants(placer, directory, common);
}

static bool lies_in(const struct carve_out *inner, const struct carve_out *outer)
{
    size_t length = strlen(outer->path);

    return inner->grant == outer->grant && strncmp(inner->path, outer->path, length) == 0 &&
           inner->path[length] == '/';
}

/* Leaves no carve-out inside another read-only one.  Where something must not come to exist inside
 * one that is kept only if present, that one must not come to exist either. */
static void settle_carve_outs(struct decision *decision)
{
    struct carve_out *all = decision->carve_outs;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < decision->n_carve_outs; i++) {
        for (uint32_t j = 0; j < decision->n_carve_outs; j++) {
            if (all[i].kind == CARVE_OUT_IF_PRESENT && never_exists(all[j].kind) &&
                lies_in(&all[j], &all[i]))
                all[i].kind = CARVE_OUT_ALWAYS;
        }
    }
    for (uint32_t i = 0; i < decision->n_carve_outs; i++) {
        bool covered = false;

        for (uint32_t j = 0; j < decision->n_carve_outs && !covered; j++)
            covered = all[j].kind != CARVE_OUT_PIN && lies_in(&all[i], &all[j]);
        if (!covered)
            all[kept++] = all[i];
    }
    decision->n_carve_outs = kept;
}

/* A write grant inside a carve-out would open it again.  The git directory of a linked worktree is
 * meant to: it lies beneath `worktrees` of its common directory. */
static void judge_reopened(struct placer *placer, const struct carve_out *carve_out)
{
    const struct request *request = placer->request;
    const struct grant *outer = &request->grants[carve_out->grant];
    auto_free char *absolute = join_normal(grant_place(outer), carve_out->path);

    if (!absolute) {
        refuse(placer->refusals, REASON_OUT_OF_RESOURCES, "no memory for a carve-out");
        return;
    }
    for (uint32_t i = 0; i < request->n_grants; i++) {
        const struct grant *grant = &request->grants[i];

        if (!grant_writes(grant->kind) || !text_path_beneath(grant_place(grant), absolute) ||
            (grant->kind == GRANT_GIT_DIR && outer->kind == GRANT_GIT_COMMON))
            continue;
        refuse(placer->refusals, REASON_CARVE_OUT_UNENFORCEABLE,
            "asked: %s %.100s; it lies in the carve-out %.100s", grant_kind_name(grant->kind),
            grant_place(grant), absolute);
    }
}

static void place_carve_outs(struct placer *placer, const struct rule *rule)
{
    const struct request *request = placer->request;
    const struct grant *workspace = grant_of_kind(request, GRANT_WORKSPACE);

    if (workspace)
        place_defaults(placer, workspace);
    for (size_t i = 0; workspace && i < rule->n_carve_outs; i++)
        place_in(placer, grant_place(workspace), rule->carve_outs[i], CARVE_OUT_ALWAYS, false);
    for (uint32_t i = 0; i < request->n_carve_outs; i++) {
        if (request->carve_outs[i][0] != '/' && !workspace)
            refuse(placer->refusals, REASON_CARVE_OUT_OUTSIDE_GRANTS,
                "asked: carve-out %.150s, relative to a workspace; there is none",
                request->carve_outs[i]);
        else
            place_in(placer, workspace ? grant_place(workspace) : "/", request->carve_outs[i],
                CARVE_OUT_ALWAYS, true);
    }
    settle_carve_outs(placer->decision);
    for (uint32_t i = 0; i < placer->decision->n_carve_outs; i++) {
        if (placer->decision->carve_outs[i].kind != CARVE_OUT_PIN)
            judge_reopened(placer, &placer->decision->carve_outs[i]);
    }
}

/* -- custody -- */

/* A carve-out that is there, or cannot come to be, keeps PATH as it is; so does a read grant on
 * top. */
static bool leg_may_write(
    const struct request *request, const struct decision *decision, const char *path)
{
    int grant = deepest(request, path, false);
    struct carve_out wanted = {.kind = CARVE_OUT_ALWAYS};

    if (grant < 0 || !grant_writes(request->grants[grant].kind))
        return false;
    wanted.grant = (uint32_t)grant;
    wanted.path = behind(path, request->grants[grant].path);
    for (uint32_t i = 0; i < decision->n_carve_outs; i++) {
        const struct carve_out *carve_out = &decision->carve_outs[i];

        if (carve_out->kind != CARVE_OUT_PIN && carve_out->grant == wanted.grant &&
            (lies_in(&wanted, carve_out) || text_equal(wanted.path, carve_out->path)))
            return false;
    }
    return true;
}

void judge_custody(
    const struct asked *asked, const struct decision *decision, struct refusals *refusals)
{
    const struct request *request = asked->request;

    for (uint32_t i = request->n_custody; i-- > 0;) {
        const char *path = request->custody[i].path;

        if (!request->custody[i].writable || !leg_may_write(request, decision, path))
            continue;
        refuse(refusals, REASON_CUSTODY_VENDOR_WRITABLE,
            "%.200s: on the way to the program of %.32s; it lies in %s %.150s, and the requester "
            "may write it",
            path, asked->vendor,
            grant_kind_name(request->grants[deepest(request, path, false)].kind),
            request->grants[deepest(request, path, false)].path);
        return;
    }
}

/* -- artefacts -- */

/* The carve-out that keeps PATH of GRANT from being written, or NULL. */
static const struct carve_out *shut(
    const struct decision *decision, uint32_t grant, const char *path)
{
    struct carve_out wanted = {CARVE_OUT_ALWAYS, grant, path};

    for (uint32_t i = 0; i < decision->n_carve_outs; i++) {
        const struct carve_out *carve_out = &decision->carve_outs[i];

        if (never_exists(carve_out->kind) &&
            (lies_in(&wanted, carve_out) ||
                (carve_out->grant == grant && text_equal(carve_out->path, path))))
            return carve_out;
    }
    return NULL;
}

/* -1 after a refusal, else the grant. */
static int artefact_grant(struct placer *placer, const char *path)
{
    const struct request *request = placer->request;
    int writer = deepest(request, path, true);
    const struct carve_out *carve_out;
    const char *rest;

    if (writer < 0 || !grant_writes(request->grants[deepest(request, path, false)].kind)) {
        refuse(placer->refusals, REASON_ARTEFACT_OUTSIDE_GRANTS,
            "asked: artefact %.150s; no write grant covers it", path);
        return -1;
    }
    rest = behind(path, grant_place(&request->grants[writer]));
    if (!*rest && request->grants[writer].directory) {
        refuse(placer->refusals, REASON_ARTEFACT_OUTSIDE_GRANTS,
            "asked: artefact %.150s; it is a granted directory, not a file in one", path);
        return -1;
    }
    carve_out = shut(placer->decision, (uint32_t)writer, rest);
    if (carve_out) {
        refuse(placer->refusals, REASON_ARTEFACT_OUTSIDE_GRANTS,
            "asked: artefact %.100s; it lies in the carve-out %.100s", path, carve_out->path);
        return -1;
    }
    return writer;
}

static void place_artefact(struct placer *placer, uint32_t index)
{
    const struct request *request = placer->request;
    struct decision *decision = placer->decision;
    auto_free char *path = join_normal(decision->directory, request->artefacts[index].path);
    struct artefact *artefact = &decision->artefacts[decision->n_artefacts];
    const char *rest;
    int grant;

    if (!path) {
        refuse(placer->refusals, REASON_OUT_OF_RESOURCES, "no memory for an artefact");
        return;
    }
    grant = artefact_grant(placer, path);
    if (grant < 0)
        return;
    rest = keep(placer, strdup(behind(path, grant_place(&request->grants[grant]))));
    if (!rest)
        return;
    *artefact = (struct artefact){
        .grant = (uint32_t)grant,
        .path = rest,
        .min_size = request->artefacts[index].min_size,
        .has_sha256 = request->artefacts[index].has_sha256,
    };
    memcpy(artefact->sha256, request->artefacts[index].sha256, sizeof(artefact->sha256));
    decision->n_artefacts++;
}

void place_paths(const struct asked *asked, const struct rule *rule, struct decision *decision,
    struct refusals *refusals)
{
    struct placer placer = {asked->request, decision, refusals};
    const struct grant *workspace = grant_of_kind(asked->request, GRANT_WORKSPACE);
    const char *directory = asked->request->chdir;

    if (!directory && workspace)
        directory = grant_place(workspace);
    if (!directory && asked->boundary == BOUNDARY_CONTAINER)
        directory = asked->request->image.directory;
    if (!directory)
        directory = "/";
    decision->directory = keep(&placer, join_normal("/", directory));
    if (!decision->directory)
        return;
    place_carve_outs(&placer, rule);
    for (uint32_t i = 0; i < asked->request->n_artefacts; i++)
        place_artefact(&placer, i);
}
