/* scene.h - what a Landlock domain is tried on: files, sockets and a process that lie outside it.
 *
 * An act returns 0 or -errno and can be done again: first without the domain, then in it.
 */
#pragma once

#include <netinet/in.h>
#include <sys/types.h>
#include <sys/un.h>

/* A tree of its own, a listener of each kind and a process: all outside the domain to come. */
struct scene {
    int root;    /* holds the file "outside" */
    int granted; /* a directory in it, with the file "file" and a directory "below" */
    int beside;  /* another */
    int tcp, abstract;
    struct sockaddr_in tcp_address;
    struct sockaddr_un abstract_address;
    socklen_t abstract_length;
    pid_t stranger;
};

int scene_make_tree(struct scene *scene);
int scene_make_tcp_listener(struct scene *scene);
int scene_make_abstract_listener(struct scene *scene);
int scene_make_stranger(struct scene *scene);

int scene_write_outside(const struct scene *scene);
int scene_read_outside(const struct scene *scene);
int scene_write_granted(const struct scene *scene);
int scene_rename_within(const struct scene *scene);
int scene_rename_out(const struct scene *scene);
int scene_link_out(const struct scene *scene);
int scene_truncate_granted(const struct scene *scene);
int scene_truncate_outside(const struct scene *scene);
int scene_resize_outside(const struct scene *scene);
int scene_bind_tcp(const struct scene *scene);
int scene_connect_tcp(const struct scene *scene);
int scene_ioctl_device(const struct scene *scene);
int scene_ioctl_descriptor(const struct scene *scene);
int scene_signal_stranger(const struct scene *scene);
int scene_signal_self(const struct scene *scene);
int scene_connect_abstract(const struct scene *scene);
