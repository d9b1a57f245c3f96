#include "ducts.h"

#include "door.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ducts_open(struct door *door)
{
    SLIST_INIT(&door->ducts);
    for (size_t i = 0; i < DUCTS_MAX; i++) {
        struct duct *duct = &door->all_ducts[i];
        int ends[2];

        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
            return -errno;
        *duct = (struct duct){.out = ends[0], .in = ends[1]};
        SLIST_INSERT_HEAD(&door->ducts, duct, entry);
    }
    return 0;
}

struct duct *duct_take(struct door *door)
{
    struct duct *duct = SLIST_FIRST(&door->ducts);

    if (duct)
        SLIST_REMOVE_HEAD(&door->ducts, entry);
    return duct;
}

void duct_give_back(struct door *door, struct duct **duct)
{
    struct duct *back = *duct;

    if (!back)
        return;
    *duct = NULL;
    while (back->held > 0) {
        ssize_t n = read(back->out, door->scratch, sizeof(door->scratch));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* it is not empty, and cannot be emptied: nobody gets it any more */
        back->held -= (size_t)n < back->held ? (size_t)n : back->held;
    }
    SLIST_INSERT_HEAD(&door->ducts, back, entry);
}
