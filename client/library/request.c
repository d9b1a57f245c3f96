#include "request.h"

#include "descriptor.h"
#include "failure.h"
#include "own.h"
#include "place.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* The public numbers are the wire's. */
_Static_assert((int)SAPHAN_BOUNDARY_NONE == SAPHAN__V1__BOUNDARY__BOUNDARY_NONE, "boundary");
_Static_assert((int)SAPHAN_VIEW_HOST == SAPHAN__V1__VIEW__VIEW_HOST, "view");
_Static_assert((int)SAPHAN_NET_CGROUP_BPF == SAPHAN__V1__NET__NET_CGROUP_BPF, "net");
_Static_assert((int)SAPHAN_GRANT_SEAT == SAPHAN__V1__GRANT_KIND__GRANT_SEAT, "grant");
_Static_assert((int)SAPHAN_STREAM_KEEP == SAPHAN__V1__STREAM_MODE__STREAM_KEEP, "stream");

#define GRANTS_WIRE_MAX 48U

void request_done(struct request *request)
{
    for (size_t i = 0; i < request->n_owned; i++)
        close(request->owned[i]);
    for (size_t i = 0; i < request->n_pumps; i++) {
        pump_end(request->pumps[i]);
        free(request->pumps[i]);
    }
    worktree_done(&request->worktree);
    arena_reset(&request->arena);
    request->n_owned = request->n_pumps = 0;
}

static int no_memory(struct saphan_error *error)
{
    return failure(error, -ENOMEM, "request", "making the request");
}

static ProtobufCBinaryData bytes_of(const char *text)
{
    return (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)text, .len = strlen(text)};
}

/* FD goes with the frame.  Returns its number there: 1 + index; 0: no room. */
static uint32_t attach(struct request *request, int fd)
{
    if (request->n_fds == FRAME_DESCRIPTORS_MAX)
        return 0;
    request->fds[request->n_fds++] = fd;
    return (uint32_t)request->n_fds;
}

static int own(struct request *request, int fd)
{
    if (request->n_owned == FRAME_DESCRIPTORS_MAX) {
        close(fd);
        return -EMFILE;
    }
    request->owned[request->n_owned++] = fd;
    return 0;
}

static int fill_list(struct request *request, const char *const *list, size_t *ret_count,
    ProtobufCBinaryData **ret_items)
{
    size_t count = 0;
    ProtobufCBinaryData *items;

    while (list && list[count])
        count++;
    items = arena_take(&request->arena, (count + 1) * sizeof(*items));
    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        items[i] = bytes_of(list[i]);
    *ret_count = count;
    *ret_items = items;
    return 0;
}

static int fill_command(
    struct request *request, const struct saphan_run *asked, struct saphan_error *error)
{
    Saphan__V1__Run *run = &request->run;

    bool none = !asked->argv || !asked->argv[0];

    if (none ? !asked->image : !asked->argv[0][0])
        return failure(error, SAPHAN_E_VALUE, "command", "there is no program to run");
    for (size_t i = 0; asked->env && asked->env[i]; i++) {
        const char *equals = strchr(asked->env[i], '=');

        if (!equals || equals == asked->env[i])
            return failure(
                error, SAPHAN_E_VALUE, "environment", "%s: wanted NAME=VALUE", asked->env[i]);
    }
    if (fill_list(request, asked->argv, &run->n_argv, &run->argv) < 0 ||
        fill_list(request, asked->env, &run->n_env, &run->env) < 0)
        return no_memory(error);
    return 0;
}

/* ---- grants ---- */

static int check_grant(int fd, const struct saphan_grant *grant, struct saphan_error *error)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return failure(error, -errno, "open-grants", "%s", grant->path);
    if (S_ISDIR(st.st_mode))
        return 0;
    if (!S_ISREG(st.st_mode))
        return failure(error, SAPHAN_E_GRANT, "open-grants",
            "%s: %s cannot be granted, only a directory or a regular file", grant->path,
            place_kind(st.st_mode));
    if (grant->kind != SAPHAN_GRANT_READ && grant->kind != SAPHAN_GRANT_WRITE)
        return failure(error, SAPHAN_E_GRANT, "open-grants",
            "%s: a %s must be a directory, this is a regular file", grant->path,
            grant->kind == SAPHAN_GRANT_SEAT ? "seat" : "workspace");
    return 0;
}

/* What its opener may not enter or write, a leg of theirs may not either: the usual permissions
 * decide inside.  Said here, it is a clear error; a plain --write may still lead to what they may
 * write. */
static int check_access(int fd, const struct saphan_grant *grant)
{
    struct stat st;
    int wanted;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISREG(st.st_mode))
        wanted = grant->kind == SAPHAN_GRANT_READ ? F_OK : W_OK;
    else
        wanted = grant->kind >= SAPHAN_GRANT_WORKSPACE ? W_OK | X_OK : X_OK;
    return faccessat(fd, "", wanted, AT_EMPTY_PATH | AT_EACCESS) < 0 ? -errno : 0;
}

/* Next free place in the frame's list, which has room for GRANTS_WIRE_MAX. */
static int add_grant(
    struct request *request, uint32_t kind, int fd, const char *path, const char *target)
{
    Saphan__V1__Grant *grant;

    if (request->run.n_grants == GRANTS_WIRE_MAX)
        return -E2BIG;
    grant = arena_take(&request->arena, sizeof(*grant));
    if (!grant)
        return -ENOMEM;
    saphan__v1__grant__init(grant);
    grant->kind = (Saphan__V1__GrantKind)kind;
    grant->descriptor = attach(request, fd);
    grant->path = bytes_of(path);
    if (target)
        grant->target = bytes_of(target);
    request->run.grants[request->run.n_grants++] = grant;
    return 0;
}

static int fill_grant(struct request *request, const struct saphan_grant *grant, int *ret_fd,
    struct saphan_error *error)
{
    const char *path;
    int fd = grant->fd, r;

    if (grant->kind < SAPHAN_GRANT_READ || grant->kind > SAPHAN_GRANT_SEAT)
        return failure(error, SAPHAN_E_VALUE, "open-grants", "%d: no such kind", (int)grant->kind);
    if (!grant->path || !grant->path[0])
        return failure(error, SAPHAN_E_VALUE, "open-grants", "a grant's path is empty");
    if (fd < 0) {
        r = place_open(AT_FDCWD, grant->path, 0, &fd);
        if (r == 0)
            r = own(request, fd);
        if (r < 0)
            return failure(error, r, "open-grants", "%s", grant->path);
    }
    r = check_grant(fd, grant, error);
    if (r != 0)
        return r;
    r = grant->fd < 0 ? check_access(fd, grant) : 0;
    if (r < 0)
        return failure(error, r, "open-grants", "%s", grant->path);
    r = place_absolute(&request->arena, grant->path, &path);
    if (r == 0)
        r = add_grant(request, (uint32_t)grant->kind, fd, path, grant->target);
    if (r < 0)
        return failure(error, r, "open-grants", "%s", grant->path);
    *ret_fd = fd;
    return 0;
}

static int fill_worktree(struct request *request, int workspace, struct saphan_error *error)
{
    struct worktree *worktree = &request->worktree;
    int r;

    if (workspace < 0)
        return failure(error, SAPHAN_E_VALUE, "worktree", "--git needs a workspace");
    r = worktree_find(workspace, &request->arena, worktree, error);
    if (r != 0 || worktree->git_dir < 0)
        return r;
    r = add_grant(request, SAPHAN__V1__GRANT_KIND__GRANT_GIT_DIR, worktree->git_dir,
        worktree->git_dir_path, NULL);
    if (r == 0)
        r = add_grant(request, SAPHAN__V1__GRANT_KIND__GRANT_GIT_COMMON, worktree->common,
            worktree->common_path, NULL);
    return r < 0 ? failure(error, r, "worktree", "%s", worktree->git_dir_path) : 0;
}

static int fill_grants(struct request *request, const struct saphan_run *asked, int *ret_workspace,
    struct saphan_error *error)
{
    int workspace = -EBADF, seats = 0, fd = -EBADF, r;

    if (asked->n_grants > GRANTS_WIRE_MAX)
        return failure(error, SAPHAN_E_VALUE, "open-grants",
            "%zu grants are more than a leg may have (%u): grant a common parent directory",
            asked->n_grants, GRANTS_WIRE_MAX);
    request->run.grants =
        arena_take(&request->arena, GRANTS_WIRE_MAX * sizeof(*request->run.grants));
    if (!request->run.grants)
        return no_memory(error);
    for (size_t i = 0; i < asked->n_grants; i++) {
        const struct saphan_grant *grant = &asked->grants[i];

        if ((grant->kind == SAPHAN_GRANT_WORKSPACE && workspace >= 0) ||
            (grant->kind == SAPHAN_GRANT_SEAT && seats++ > 0))
            return failure(error, SAPHAN_E_VALUE, "open-grants",
                "%s: a leg has one workspace and one seat", grant->path ? grant->path : "");
        r = fill_grant(request, grant, &fd, error);
        if (r != 0)
            return r;
        if (grant->kind == SAPHAN_GRANT_WORKSPACE)
            workspace = fd;
    }
    *ret_workspace = workspace;
    return asked->git ? fill_worktree(request, workspace, error) : 0;
}

/* ---- paths that are names only ---- */

/* What the leg sees stands at the kernel's own names, so a name through a link of the host is
 * turned into the real one here.  What stands in a container is a name there alone. */
static int fill_name(struct request *request, const char *path, const char *step,
    ProtobufCBinaryData *ret, struct saphan_error *error)
{
    const char *out;
    int r;

    out = path;
    if (path[0] != '/')
        r = place_relative(&request->arena, path, &out);
    else if (request->run.image[0])
        r = text_path_is_normal(path) ? 0 : -EINVAL;
    else
        r = place_real_parent(&request->arena, path, &out);
    if (r == -EINVAL)
        return failure(
            error, SAPHAN_E_VALUE, step, "%s: wanted the name of a file, without \"..\"", path);
    if (r < 0)
        return failure(error, r, step, "%s", path);
    *ret = bytes_of(out);
    return 0;
}

static int fill_carve_outs(struct request *request, const struct saphan_run *asked,
    bool has_workspace, struct saphan_error *error)
{
    Saphan__V1__Run *run = &request->run;
    int r;

    if (fill_list(request, asked->carve_outs, &run->n_carve_outs, &run->carve_outs) < 0)
        return no_memory(error);
    for (size_t i = 0; i < run->n_carve_outs; i++) {
        const char *path = asked->carve_outs[i];

        if (path[0] != '/' && !has_workspace)
            return failure(error, SAPHAN_E_VALUE, "carve-outs",
                "%s: a relative carve-out needs a workspace", path);
        r = fill_name(request, path, "carve-outs", &run->carve_outs[i], error);
        if (r != 0)
            return r;
    }
    return 0;
}

static int fill_artefacts(
    struct request *request, const struct saphan_run *asked, struct saphan_error *error)
{
    Saphan__V1__Run *run = &request->run;
    Saphan__V1__Artefact *all;
    int r;

    if (asked->n_artefacts == 0)
        return 0;
    run->artefacts = arena_take(&request->arena, asked->n_artefacts * sizeof(*run->artefacts));
    all = arena_take(&request->arena, asked->n_artefacts * sizeof(*all));
    if (!run->artefacts || !all)
        return no_memory(error);
    for (size_t i = 0; i < asked->n_artefacts; i++) {
        const struct saphan_artefact *artefact = &asked->artefacts[i];

        saphan__v1__artefact__init(&all[i]);
        r = fill_name(request, artefact->path, "artefact", &all[i].path, error);
        if (r != 0)
            return r;
        all[i].min_size = artefact->min_size;
        if (artefact->has_sha256) {
            all[i].sha256.data = (uint8_t *)(uintptr_t)artefact->sha256;
            all[i].sha256.len = sizeof(artefact->sha256);
        }
        run->artefacts[i] = &all[i];
    }
    run->n_artefacts = asked->n_artefacts;
    return 0;
}

/* An absolute directory that only the leg has (its /run/home) is passed as it stands. */
static int fill_directory(
    struct request *request, const struct saphan_run *asked, struct saphan_error *error)
{
    const char *path = asked->directory, *real;
    int r;

    if (!path)
        return 0;
    if (asked->image) {
        if (!text_path_is_normal(path))
            return failure(error, SAPHAN_E_VALUE, "directory",
                "%s: in a container it is an absolute path", path);
        request->run.chdir = bytes_of(path);
        return 0;
    }
    r = place_real_directory(&request->arena, path, &real);
    if (r == -ENOENT && text_path_is_normal(path)) {
        real = path;
        r = 0;
    }
    if (r < 0)
        return failure(error, r, "directory", "%s", path);
    request->run.chdir = bytes_of(real);
    return 0;
}

/* ---- streams ---- */

static const char *const stream_names[] = {"standard input", "standard output", "standard error"};

/* Two streams on one terminal share a pipe, so that their order stays. */
static bool same_stream(int a, int b)
{
    struct stat one, other;

    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Makes a pipe to be pumped; its leg's end is *RET_LEGS, owned by the request. */
static int pump_stream(
    struct request *request, int fd, bool output, unsigned int stream, int *ret_legs)
{
    struct pump *pump = malloc(sizeof(*pump));
    int legs, r;

    if (!pump)
        return -ENOMEM;
    r = pump_start(pump, fd, output, stream, &legs);
    if (r < 0) {
        free(pump);
        return r;
    }
    request->pumps[request->n_pumps++] = pump;
    r = own(request, legs);
    if (r == 0)
        *ret_legs = legs;
    return r;
}

/* *SHARED is the leg's end of standard output's pump, or -EBADF. */
static int fill_fd_stream(struct request *request, int index, const struct saphan_run *asked,
    int *shared, Saphan__V1__Stream *stream)
{
    int fd = index == 0 ? asked->in.fd : index == 1 ? asked->out.fd : asked->err.fd, legs = -EBADF;
    enum stream_route route;
    int r;

    r = stream_route(fd, &route);
    if (r < 0)
        return r;
    if (route == STREAM_ROUTE_NULL)
        return 0;
    if (route == STREAM_ROUTE_PASS)
        r = descriptor_let_reopen((legs = fd), index > 0);
    else if (index == 2 && *shared >= 0 && same_stream(fd, asked->out.fd))
        legs = *shared;
    else
        r = pump_stream(request, fd, index > 0, 0, &legs);
    if (r < 0)
        return r;
    if (index == 1 && route == STREAM_ROUTE_PUMP)
        *shared = legs;
    stream->mode = SAPHAN__V1__STREAM_MODE__STREAM_DESCRIPTOR;
    stream->descriptor = attach(request, legs);
    return 0;
}

/* Output as events comes through a pipe of our own: the leg waits for a slow caller as for any
 * reader, and saphand does not handle a byte of it. */
static int fill_event_stream(
    struct request *request, unsigned int index, Saphan__V1__Stream *stream)
{
    int legs = -EBADF, r;

    r = pump_stream(request, -EBADF, true, index, &legs);
    if (r < 0)
        return r;
    stream->mode = SAPHAN__V1__STREAM_MODE__STREAM_DESCRIPTOR;
    stream->descriptor = attach(request, legs);
    return 0;
}

static int fill_streams(
    struct request *request, const struct saphan_run *asked, struct saphan_error *error)
{
    const struct saphan_stream *streams[] = {&asked->in, &asked->out, &asked->err};
    Saphan__V1__Stream *all = arena_take(&request->arena, 3 * sizeof(*all));
    int shared = -EBADF, r;

    if (!all)
        return no_memory(error);
    for (int i = 0; i < 3; i++) {
        saphan__v1__stream__init(&all[i]);
        if (streams[i]->mode < SAPHAN_STREAM_NULL || streams[i]->mode > SAPHAN_STREAM_KEEP ||
            (i == 0 && streams[i]->mode > SAPHAN_STREAM_FD))
            return failure(error, SAPHAN_E_VALUE, "stdio", "%s cannot be made so", stream_names[i]);
        r = 0;
        if (streams[i]->mode == SAPHAN_STREAM_KEEP)
            all[i].mode = SAPHAN__V1__STREAM_MODE__STREAM_KEEP;
        else if (streams[i]->mode == SAPHAN_STREAM_EVENTS)
            r = fill_event_stream(request, (unsigned int)i, &all[i]);
        else if (streams[i]->mode == SAPHAN_STREAM_FD)
            r = fill_fd_stream(request, i, asked, &shared, &all[i]);
        if (r < 0)
            return failure(error, r, "stdio", "%s", stream_names[i]);
    }
    if (asked->detach && request->n_pumps > 0)
        return failure(error, SAPHAN_E_VALUE, "stdio",
            "a detached leg outlives this process, which would have to pump a stream that cannot "
            "be "
            "passed");
    request->run.standard_input = &all[0];
    request->run.standard_output = &all[1];
    request->run.standard_error = &all[2];
    return 0;
}

/* ---- the door ---- */

/* The caller's own right to read it is what counts: it is opened here. */
static int attach_file(
    struct request *request, const char *path, uint32_t *ret_number, struct saphan_error *error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;

    if (fd < 0)
        return failure(error, -errno, "forward", "%s", path);
    r = own(request, fd);
    if (r < 0)
        return failure(error, r, "forward", "%s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return failure(error, SAPHAN_E_VALUE, "forward", "%s: it is not a regular file", path);
    *ret_number = attach(request, fd);
    return *ret_number == 0 ? failure(error, -EMFILE, "forward", "%s", path) : 0;
}

static int fill_forward(struct request *request, const struct saphan_forward *asked,
    Saphan__V1__Forward *out, struct saphan_error *error)
{
    int r = 0;

    saphan__v1__forward__init(out);
    if (!asked->target || (asked->header != NULL) != (asked->key != NULL))
        return failure(
            error, SAPHAN_E_VALUE, "forward", "wanted a target, and a header with a key");
    out->port = asked->port;
    out->target = bytes_of(asked->target);
    if (asked->header) {
        out->header = (char *)(uintptr_t)asked->header;
        r = attach_file(request, asked->key, &out->key, error);
    }
    if (r == 0 && asked->ca)
        r = attach_file(request, asked->ca, &out->authorities, error);
    return r;
}

static int fill_outlets(
    struct request *request, const struct saphan_run *asked, struct saphan_error *error)
{
    Saphan__V1__Run *run = &request->run;
    Saphan__V1__Forward *all;
    int r;

    if (fill_list(request, asked->allow, &run->n_allow, &run->allow) < 0)
        return no_memory(error);
    run->forwards = arena_take(&request->arena, (asked->n_forwards + 1) * sizeof(*run->forwards));
    all = arena_take(&request->arena, (asked->n_forwards + 1) * sizeof(*all));
    if (!run->forwards || !all)
        return no_memory(error);
    for (size_t i = 0; i < asked->n_forwards; i++) {
        r = fill_forward(request, &asked->forwards[i], &all[i], error);
        if (r != 0)
            return r;
        run->forwards[i] = &all[i];
    }
    run->n_forwards = asked->n_forwards;
    return 0;
}

static int fill_choices(
    struct request *request, const struct saphan_run *asked, struct saphan_error *error)
{
    Saphan__V1__Limits *limits = arena_take(&request->arena, sizeof(*limits));
    Saphan__V1__Run *run = &request->run;

    if (!limits)
        return no_memory(error);
    saphan__v1__limits__init(limits);
    limits->tasks = asked->limits.tasks;
    limits->memory = asked->limits.memory;
    limits->cpu_percent = asked->limits.cpu_percent;
    limits->wall_ms = asked->limits.wall_ms;
    limits->output = asked->limits.output;
    limits->files = asked->limits.files;
    run->limits = limits;
    run->boundary = (Saphan__V1__Boundary)asked->boundary;
    run->view = (Saphan__V1__View)asked->view;
    run->net = (Saphan__V1__Net)asked->net;
    if (asked->vendor)
        run->vendor = (char *)(uintptr_t)asked->vendor;
    if (asked->image)
        run->image = (char *)(uintptr_t)asked->image;
    if (asked->user)
        run->user = (char *)(uintptr_t)asked->user;
    if (asked->host_name)
        run->host_name = (char *)(uintptr_t)asked->host_name;
    if (asked->transport)
        run->transport = (char *)(uintptr_t)asked->transport;
    run->writable_root = asked->writable_root;
    for (size_t i = 0; asked->capabilities && asked->capabilities[i]; i++)
        run->n_capabilities++;
    run->capabilities = (char **)(uintptr_t)asked->capabilities;
    run->git = asked->git;
    run->detach = asked->detach;
    run->measure = asked->measure;
    return 0;
}

int request_make(struct request *ret, const struct saphan_run *asked, struct saphan_error *error)
{
    int workspace = -EBADF, r;

    ret->worktree = WORKTREE_NONE;
    saphan__v1__run__init(&ret->run);
    if (asked->size != sizeof(*asked))
        return failure(error, SAPHAN_E_VALUE, "request", "the struct is not of this library");
    r = fill_command(ret, asked, error);
    if (r == 0)
        r = fill_choices(ret, asked, error);
    if (r == 0)
        r = fill_grants(ret, asked, &workspace, error);
    if (r == 0)
        r = fill_carve_outs(ret, asked, workspace >= 0, error);
    if (r == 0)
        r = fill_artefacts(ret, asked, error);
    if (r == 0)
        r = fill_directory(ret, asked, error);
    if (r == 0)
        r = fill_outlets(ret, asked, error);
    if (r == 0)
        r = fill_streams(ret, asked, error);
    return r;
}
