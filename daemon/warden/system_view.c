#include "system_view.h"

#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

/* Where programs, libraries and their settings stand: hier(7), file-hierarchy(7). */
static const char *const system_paths[] = {
    "/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/sbin", "/usr"};

/* Files whose content is a secret of the host, wherever permissions already say so or not.  Only
 * what no user can make: a name in a home could be a link to anything, or a file system that hangs,
 * and would then be in the way of everybody's legs. */
static const char *const secret_patterns[] = {"/etc/shadow", "/etc/shadow-", "/etc/gshadow",
    "/etc/gshadow-", "/etc/security/opasswd", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private",
    "/etc/ssh/ssh_host_*_key", "/etc/krb5.keytab", "/etc/wireguard",
    "/etc/NetworkManager/system-connections", "/etc/docker/key.json", "/etc/saphan",
    "/etc/apt/auth.conf", "/etc/apt/auth.conf.d/*", "/etc/cryptsetup-keys.d",
    "/etc/exim4/passwd.client", "/etc/ipsec.d/private", "/etc/ipsec.secrets", "/etc/kubernetes",
    "/etc/letsencrypt/archive", "/etc/mysql/debian.cnf", "/etc/netplan",
    "/etc/postfix/sasl_passwd*", "/etc/ppp/*-secrets", "/etc/rancher", "/etc/swanctl/private",
    "/etc/wpa_supplicant", NULL};

const char *const home_secrets[] = {
    ".ssh", ".gnupg", ".aws", ".config/gcloud", ".kube", ".netrc", ".docker", NULL};

static int add_symlink(struct system_view *view, const char *path)
{
    char target[256];
    ssize_t n = readlink(path, target, sizeof(target) - 1);

    if (n < 0)
        return -errno;
    if (view->n_symlinks == array_size(view->symlinks))
        return -E2BIG;
    target[n] = '\0';
    view->symlinks[view->n_symlinks].path = strdup(path);
    view->symlinks[view->n_symlinks].target = strdup(target);
    if (!view->symlinks[view->n_symlinks].path || !view->symlinks[view->n_symlinks].target)
        return -ENOMEM;
    view->n_symlinks++;
    return 0;
}

static int add_directory(struct system_view *view, const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    view->directories[view->n_directories].path = strdup(path);
    view->directories[view->n_directories].fd = fd;
    return view->directories[view->n_directories++].path ? 0 : -ENOMEM;
}

static int find_secrets(struct system_view *view)
{
    for (size_t i = 0; secret_patterns[i]; i++) {
        glob_t found = {0};

        if (glob(secret_patterns[i], GLOB_NOSORT, NULL, &found) == 0) {
            for (size_t j = 0; j < found.gl_pathc && view->n_masks < SYSTEM_MASKS_MAX; j++) {
                view->masks[view->n_masks] = strdup(found.gl_pathv[j]);
                if (!view->masks[view->n_masks++])
                    return -ENOMEM;
            }
        }
        globfree(&found);
    }
    /* A secret that does not fit is a secret shown: no start rather than that. */
    return view->n_masks < SYSTEM_MASKS_MAX ? 0 : -E2BIG;
}

int system_view_open(struct warden *warden)
{
    struct system_view *view = &warden->view;

    for (size_t i = 0; i < array_size(system_paths); i++) {
        struct stat st;
        int r = 0;

        if (lstat(system_paths[i], &st) < 0)
            continue;
        if (S_ISLNK(st.st_mode))
            r = add_symlink(view, system_paths[i]);
        else if (S_ISDIR(st.st_mode))
            r = add_directory(view, system_paths[i]);
        if (r < 0)
            return r;
    }
    return find_secrets(view);
}

void system_view_close(struct warden *warden)
{
    struct system_view *view = &warden->view;

    for (uint32_t i = 0; i < view->n_directories; i++) {
        free(view->directories[i].path);
        close_fd(&view->directories[i].fd);
    }
    for (uint32_t i = 0; i < view->n_symlinks; i++) {
        free(view->symlinks[i].path);
        free(view->symlinks[i].target);
    }
    for (uint32_t i = 0; i < view->n_masks; i++)
        free(view->masks[i]);
    view->n_directories = view->n_symlinks = view->n_masks = 0;
}
