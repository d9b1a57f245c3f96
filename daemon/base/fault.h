/* fault.h - how errors travel.
 *
 * An int result is 0 for good; a negative errno that is passed on unchanged and matched nowhere but
 * where it arose; or a positive ROOM_E_NAME, declared in the room's header, that the direct caller
 * must handle.  Where a failure has to reach a person, it travels as a struct fault: which step,
 * which errno, about what.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define FAULT_SUBJECT_MAX 256

struct fault {
    uint32_t step;                   /* enum of the room that failed; 0 = no fault */
    int32_t error;                   /* positive errno, or 0 */
    char subject[FAULT_SUBJECT_MAX]; /* a path, a name, a number: what the step was about */
};

/* Fills FAULT (which may be NULL) and returns -ERROR, so that `return fault_set(...)` reads well.
 * ERROR is a positive errno.  FORMAT makes the subject; it is cut, never overrun. */
int fault_set(struct fault *fault, uint32_t step, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Does ERROR say that this side lacks something, whatever it was asked for?  Then it is no fault of
 * who asked. */
bool fault_is_shortage(int error);

/* "ENOENT" for 2; "errno 4242" for one that has no name.  The result is static. */
const char *fault_errno_name(int error);
