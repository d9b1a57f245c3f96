/* The connection: requests out, events in, and the pumps that run meanwhile. */
#include "answer.h"
#include "failure.h"
#include "matrix_wire.h"
#include "own.h"
#include "pump.h"
#include "request.h"
#include "wire.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PENDING_MAX 32

struct saphan {
    struct wire wire;
    uint64_t last_request;
    struct {
        uint64_t request;
        enum asked asked;
    } pending[PENDING_MAX];
    struct pump *pumps[PUMPS_MAX];
    size_t n_pumps;
    uint64_t pumping; /* the run whose streams are pumped */

    /* What the caller's last event points to. */
    Saphan__V1__ServerFrame *frame;
    struct arena arena;
    /* A last event that waits for its run's pumps to be empty. */
    struct saphan_event held;
    bool holding;
    int broken; /* how the connection ended; told when the pumps are empty */
};

int saphan_adopt(int fd, struct saphan **ret, struct saphan_error *error)
{
    auto_close int owned = fd;
    struct saphan *saphan = calloc(1, sizeof(*saphan));

    if (!saphan)
        return failure(error, -ENOMEM, "connect", "the connection");
    saphan->wire.fd = steal_fd(&owned);
    *ret = saphan;
    return 0;
}

static const char *connect_hint(int error)
{
    switch (error) {
    case ENOENT:
    case ECONNREFUSED:
        return " (saphand does not run there)";
    case EACCES:
        return " (this user may not: the socket is for members of its group)";
    default:
        return "";
    }
}

int saphan_connect(const char *path, struct saphan **ret, struct saphan_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    auto_close int fd = -EBADF;

    if (!path)
        path = getenv("SAPHAN_SOCKET");
    if (!path || !path[0])
        path = SAPHAN_SOCKET;
    if (strlen(path) >= sizeof(address.sun_path))
        return failure(error, -ENAMETOOLONG, "connect", "%s", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return failure(error, -errno, "connect", "%s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return failure(error, -errno, "connect", "%s%s", path, connect_hint(errno));
    return saphan_adopt(steal_fd(&fd), ret, error);
}

static void pumps_end(struct saphan *saphan)
{
    for (size_t i = 0; i < saphan->n_pumps; i++) {
        pump_end(saphan->pumps[i]);
        free(saphan->pumps[i]);
    }
    saphan->n_pumps = 0;
    saphan->pumping = 0;
}

static void forget_event(struct saphan *saphan)
{
    if (saphan->frame)
        saphan__v1__server_frame__free_unpacked(saphan->frame, NULL);
    saphan->frame = NULL;
    arena_reset(&saphan->arena);
}

void saphan_close(struct saphan *saphan)
{
    if (!saphan)
        return;
    pumps_end(saphan);
    forget_event(saphan);
    wire_done(&saphan->wire);
    free(saphan);
}

/* ---- asking ---- */

static int ask(struct saphan *saphan, Saphan__V1__ClientFrame *frame, enum asked asked,
    const int *fds, size_t n_fds, uint64_t *ret_request, struct saphan_error *error)
{
    size_t slot = 0;
    int r;

    while (slot < PENDING_MAX && saphan->pending[slot].asked != ASKED_NOTHING)
        slot++;
    if (slot == PENDING_MAX)
        return failure(error, SAPHAN_E_VALUE, "request",
            "%d requests of this connection wait for their end", PENDING_MAX);
    frame->protocol = FRAME_PROTOCOL;
    frame->request = saphan->last_request + 1;
    r = wire_send(&saphan->wire, frame, fds, n_fds);
    if (r == SAPHAN_E_TOO_BIG)
        return failure(error, r, "request-too-big",
            "the command, its arguments and its environment are together more than %u bytes: pass "
            "long input by standard input or in a file",
            FRAME_MAX);
    /* A saphand that hung up may have said why: saphan_next() reads it. */
    if (r < 0 && r != -EPIPE && r != -ECONNRESET)
        return failure(error, r, "send", "the request");
    saphan->last_request++;
    saphan->pending[slot].request = frame->request;
    saphan->pending[slot].asked = asked;
    if (ret_request)
        *ret_request = frame->request;
    return 0;
}

void saphan_run_init(struct saphan_run *run)
{
    *run = (struct saphan_run){.size = sizeof(*run)};
    run->in.fd = run->out.fd = run->err.fd = -EBADF;
}

int saphan_run(struct saphan *saphan, const struct saphan_run *run, uint64_t *ret_request,
    struct saphan_error *error)
{
    auto_request struct request request = {.worktree = WORKTREE_NONE};
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    uint64_t number;
    int r;

    r = request_make(&request, run, error);
    if (r != 0)
        return r;
    if (request.n_pumps > 0 && saphan->pumping != 0)
        return failure(error, SAPHAN_E_VALUE, "stdio",
            "this connection already pumps the streams of another leg: use one more connection");
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_RUN;
    frame.run = &request.run;
    r = ask(saphan, &frame, run->detach ? ASKED_RUN_DETACHED : ASKED_RUN, request.fds,
        request.n_fds, &number, error);
    if (r != 0)
        return r;
    if (request.n_pumps > 0) {
        memcpy(saphan->pumps, request.pumps, sizeof(saphan->pumps));
        saphan->n_pumps = request.n_pumps;
        saphan->pumping = number;
        request.n_pumps = 0;
    }
    if (ret_request)
        *ret_request = number;
    return 0;
}

int saphan_legs(struct saphan *saphan, bool all, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ListLegs body = SAPHAN__V1__LIST_LEGS__INIT;

    body.all = all;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LIST_LEGS;
    frame.list_legs = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_show(
    struct saphan *saphan, uint64_t leg, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ShowLeg body = SAPHAN__V1__SHOW_LEG__INIT;

    body.leg = leg;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_SHOW_LEG;
    frame.show_leg = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_logs(struct saphan *saphan, uint64_t leg, bool follow, uint64_t *ret_request,
    struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__LegLogs body = SAPHAN__V1__LEG_LOGS__INIT;

    body.leg = leg;
    body.follow = follow;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_LEG_LOGS;
    frame.leg_logs = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_kill(
    struct saphan *saphan, uint64_t leg, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__KillLeg body = SAPHAN__V1__KILL_LEG__INIT;

    body.leg = leg;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_KILL_LEG;
    frame.kill_leg = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_change_door(struct saphan *saphan, uint64_t leg, bool allow, const char *host,
    uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ChangeDoor body = SAPHAN__V1__CHANGE_DOOR__INIT;

    body.leg = leg;
    body.deny = !allow;
    body.host = (ProtobufCBinaryData){strlen(host), (uint8_t *)(uintptr_t)host};
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_CHANGE_DOOR;
    frame.change_door = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

static int ask_image(struct saphan *saphan, Saphan__V1__ClientFrame *frame, const int *source,
    uint64_t *ret_request, struct saphan_error *error)
{
    return ask(saphan, frame, ASKED_OTHER, source, source ? 1 : 0, ret_request, error);
}

int saphan_image_add(struct saphan *saphan, const char *name, int source, const char *reference,
    uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ImageAdd body = SAPHAN__V1__IMAGE_ADD__INIT;

    body.name = (char *)(uintptr_t)name;
    body.descriptor = 1;
    if (reference)
        body.reference = (char *)(uintptr_t)reference;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_ADD;
    frame.image_add = &body;
    return ask_image(saphan, &frame, &source, ret_request, error);
}

int saphan_images(
    struct saphan *saphan, const char *name, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ImageList body = SAPHAN__V1__IMAGE_LIST__INIT;

    if (name)
        body.name = (char *)(uintptr_t)name;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_LIST;
    frame.image_list = &body;
    return ask_image(saphan, &frame, NULL, ret_request, error);
}

int saphan_image_remove(
    struct saphan *saphan, const char *name, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ImageRemove body = SAPHAN__V1__IMAGE_REMOVE__INIT;

    body.name = (char *)(uintptr_t)name;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_REMOVE;
    frame.image_remove = &body;
    return ask_image(saphan, &frame, NULL, ret_request, error);
}

int saphan_image_gc(struct saphan *saphan, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ImageGc body = SAPHAN__V1__IMAGE_GC__INIT;

    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_IMAGE_GC;
    frame.image_gc = &body;
    return ask_image(saphan, &frame, NULL, ret_request, error);
}

int saphan_why(struct saphan *saphan, uint64_t leg, const char *path, uint64_t *ret_request,
    struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__Why body = SAPHAN__V1__WHY__INIT;

    body.leg = leg;
    body.path = (ProtobufCBinaryData){strlen(path), (uint8_t *)(uintptr_t)path};
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_WHY;
    frame.why = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_status(struct saphan *saphan, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__Status body = SAPHAN__V1__STATUS__INIT;

    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_STATUS;
    frame.status = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_machine(
    struct saphan *saphan, bool measure, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__Machine body = SAPHAN__V1__MACHINE__INIT;

    body.measure = measure;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_MACHINE;
    frame.machine = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_cell(struct saphan *saphan, enum saphan_step step, const struct saphan_cell *cell,
    uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__CellStep body = SAPHAN__V1__CELL_STEP__INIT;
    Saphan__V1__Cell out;

    cells_put_cell(cell, &out);
    body.step = step;
    body.cell = &out;
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_CELL_STEP;
    frame.cell_step = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_arm(struct saphan *saphan, enum saphan_step step, const struct saphan_arm *arm,
    const char *const *argv, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__ArmStep body = SAPHAN__V1__ARM_STEP__INIT;
    ProtobufCBinaryData words[64];
    Saphan__V1__Arm out;

    cells_put_arm(arm, &out);
    body.step = step;
    body.arm = &out;
    body.argv = words;
    for (; argv && argv[body.n_argv]; body.n_argv++) {
        if (body.n_argv == array_size(words))
            return failure(
                error, SAPHAN_E_VALUE, "control", "more than %zu words", array_size(words));
        words[body.n_argv] = (ProtobufCBinaryData){
            strlen(argv[body.n_argv]), (uint8_t *)(uintptr_t)argv[body.n_argv]};
    }
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_ARM_STEP;
    frame.arm_step = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

int saphan_matrix(struct saphan *saphan, enum saphan_matrix_what what, const char *vendor,
    bool arms, uint64_t after, uint64_t *ret_request, struct saphan_error *error)
{
    Saphan__V1__ClientFrame frame = SAPHAN__V1__CLIENT_FRAME__INIT;
    Saphan__V1__Matrix body = SAPHAN__V1__MATRIX__INIT;

    body.what = what;
    body.arms = arms;
    body.after = after;
    if (vendor)
        body.vendor = (ProtobufCBinaryData){strlen(vendor), (uint8_t *)(uintptr_t)vendor};
    frame.body_case = SAPHAN__V1__CLIENT_FRAME__BODY_MATRIX;
    frame.matrix = &body;
    return ask(saphan, &frame, ASKED_OTHER, NULL, 0, ret_request, error);
}

/* ---- hearing ---- */

static enum asked *pending_of(struct saphan *saphan, uint64_t request)
{
    for (size_t i = 0; i < PENDING_MAX; i++) {
        if (saphan->pending[i].asked != ASKED_NOTHING && saphan->pending[i].request == request)
            return &saphan->pending[i].asked;
    }
    return NULL;
}

static int hearing_failed(int r, struct saphan_error *error)
{
    switch (r) {
    case SAPHAN_E_CLOSED:
        return failure(
            error, r, "connection", "saphand ended the connection before it had answered");
    case SAPHAN_E_BUSY:
        return failure(
            error, r, "connection", "saphand has too many connections now: try again later");
    case SAPHAN_E_PROTOCOL:
        return failure(
            error, r, "connection", "what came from the socket is not saphand's protocol");
    default:
        return failure(error, r, "connection", "reading");
    }
}

/* Takes one event out of what has come.  *RET_TAKEN false: nothing whole is there. */
static int take_event(struct saphan *saphan, bool *ret_taken, struct saphan_event *ret)
{
    for (;;) {
        struct saphan_event event;
        enum asked *asked;
        bool known;
        int r;

        forget_event(saphan);
        *ret_taken = false;
        r = wire_take(&saphan->wire, &saphan->frame);
        if (r != 0 || !saphan->frame)
            return r;
        if (saphan->frame->request > saphan->last_request)
            return SAPHAN_E_PROTOCOL; /* an answer to what was never asked */
        asked = pending_of(saphan, saphan->frame->request);
        r = answer_read(
            saphan->frame, asked ? *asked : ASKED_NOTHING, &saphan->arena, &known, &event);
        if (r != 0)
            return r;
        /* Request 0 is the connection itself: saphand will not serve it. */
        if (!known || (!asked && (saphan->frame->request != 0 || !event.last)))
            continue;
        if (event.last && asked)
            *asked = ASKED_NOTHING;
        *ret_taken = true;
        *ret = event;
        return 0;
    }
}

static bool finishing(const struct saphan *saphan)
{
    return saphan->holding || saphan->broken != 0;
}

/* Takes what a told pump holds.  When FINISHING it is read as long as there is something, and
 * ended. */
static bool take_output(struct saphan *saphan, struct saphan_event *ret)
{
    for (size_t i = 0; i < saphan->n_pumps; i++) {
        struct pump *pump = saphan->pumps[i];

        if (pump->stream == 0 || !pump_runs(pump))
            continue;
        if (finishing(saphan) && pump->start == pump->end && !pump_read(pump))
            pump_end(pump);
        if (pump->start == pump->end)
            continue;
        *ret = (struct saphan_event){.kind = SAPHAN_EVENT_OUTPUT, .request = saphan->pumping};
        ret->output.stream = pump->stream;
        ret->output.bytes = pump->buffer + pump->start;
        ret->output.size = pump->end - pump->start;
        pump->start = pump->end;
        return true;
    }
    return false;
}

/* What a leg wrote stands before its verdict: true when all of it is written. */
static bool pumps_finish(struct saphan *saphan)
{
    bool done = true;

    for (size_t i = 0; i < saphan->n_pumps; i++) {
        if (saphan->pumps[i]->stream == 0)
            done = pump_finish(saphan->pumps[i]) && done;
    }
    if (done)
        pumps_end(saphan);
    return done;
}

size_t saphan_pollfds(struct saphan *saphan, struct pollfd *ret, size_t max)
{
    size_t count = 0;

    if (!finishing(saphan) && count < max)
        ret[count++] = (struct pollfd){.fd = saphan->wire.fd, .events = POLLIN};
    for (size_t i = 0; i < saphan->n_pumps && count < max; i++) {
        if (pump_runs(saphan->pumps[i]))
            ret[count++] = pump_pollfd(saphan->pumps[i]);
    }
    return count;
}

/* Waits, and moves what can be moved.  SAPHAN_E_TIMEOUT, -EINTR, or of wire_fill(). */
static int wait_and_move(struct saphan *saphan, int timeout_ms, const sigset_t *mask)
{
    struct timespec timeout = {
        .tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000L};
    struct pollfd fds[1 + PUMPS_MAX];
    size_t count = saphan_pollfds(saphan, fds, array_size(fds)), at = finishing(saphan) ? 0 : 1;
    int r;

    r = ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, mask);
    if (r < 0)
        return -errno;
    if (r == 0)
        return SAPHAN_E_TIMEOUT;
    if (finishing(saphan))
        return 0; /* pumps_finish() writes */
    for (size_t i = 0; i < saphan->n_pumps; i++) {
        if (pump_runs(saphan->pumps[i]) && fds[at++].revents)
            pump_step(saphan->pumps[i]);
    }
    if (!fds[0].revents)
        return 0;
    r = wire_fill(&saphan->wire);
    return r == -EAGAIN ? 0 : r;
}

/* One look at what is there.  *RET_DONE: saphan_next() has its result. */
static int look(struct saphan *saphan, bool *ret_done, struct saphan_event *ret)
{
    bool taken = false;
    int r;

    *ret_done = true;
    if (take_output(saphan, ret))
        return 0;
    if (!finishing(saphan)) {
        r = take_event(saphan, &taken, &saphan->held);
        if (r != 0)
            return r;
        saphan->holding = taken && saphan->held.last && saphan->pumping == saphan->held.request;
        if (saphan->holding && take_output(saphan, ret))
            return 0;
    }
    if (finishing(saphan) && pumps_finish(saphan)) {
        if (saphan->broken != 0)
            return saphan->broken;
        saphan->holding = false;
        taken = true;
    }
    if (taken && !saphan->holding) {
        *ret = saphan->held;
        return 0;
    }
    *ret_done = false;
    return 0;
}

int saphan_next(struct saphan *saphan, int timeout_ms, const sigset_t *mask,
    struct saphan_event *ret, struct saphan_error *error)
{
    for (;;) {
        bool done;
        int r;

        r = look(saphan, &done, ret);
        if (done)
            return r != 0 ? hearing_failed(r, error) : 0;
        r = wait_and_move(saphan, timeout_ms, mask);
        if (r == SAPHAN_E_TIMEOUT || r == -EINTR)
            return r;
        if (r == SAPHAN_E_CLOSED)
            saphan->broken = r;
        else if (r != 0)
            return hearing_failed(r, error);
    }
}
