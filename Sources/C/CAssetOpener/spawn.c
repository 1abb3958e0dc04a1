#define _GNU_SOURCE
#include "asset_opener.h"

#include <errno.h>

#if defined(__linux__)

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

// A file in memory that nobody can change any more; a negative errno.
static int sealed_file(const uint8_t *bytes, size_t count) {
    int file = memfd_create("asset", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -errno;
    size_t written = 0;
    while (written < count) {
        ssize_t more = write(file, bytes + written, count - written);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) goto failed;
        written += (size_t)more;
    }
    if (lseek(file, 0, SEEK_SET) != 0) goto failed;
    if (fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) goto failed;
    return file;
failed:;
    int code = errno;
    close(file);
    return -code;
}

pid_t lectern_asset_spawn(const char *program, char *const arguments[], const uint8_t *bytes, size_t count,
                          const uint8_t *secret, size_t secret_count, int *output, int *error) {
    int outputs[2] = {-1, -1}, errors[2] = {-1, -1};
    pid_t process = -1;
    int code = 0;
    int input = sealed_file(bytes, count), second = -1;
    if (input < 0) return input;
    if (secret != NULL && (second = sealed_file(secret, secret_count)) < 0) {
        close(input);
        return second;
    }
    if (pipe2(outputs, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
        code = errno;
    } else {
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
        // The sources of the copies may themselves be descriptors 0 to 3, where the parent has closed those.
        int sources[4] = {input, outputs[1], errors[1], second};
        int copies = secret != NULL ? 4 : 3;
        for (int i = 0; i < copies && code == 0; i++) {
            if (sources[i] >= copies) continue;
            int above = fcntl(sources[i], F_DUPFD_CLOEXEC, copies);
            if (above < 0) code = errno;
            close(sources[i]);
            sources[i] = above;
        }
        input = sources[0];
        outputs[1] = sources[1];
        errors[1] = sources[2];
        second = sources[3];
        for (int i = 0; i < copies; i++) posix_spawn_file_actions_adddup2(&files, sources[i], i);
        posix_spawn_file_actions_addclosefrom_np(&files, copies);
        // The program gets the default signals, whatever this process ignores or blocks.
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent", NULL};
        if (code == 0) code = posix_spawn(&process, program, &files, &attributes, arguments, environment);
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    if (input >= 0) close(input);
    if (second >= 0) close(second);
    if (outputs[1] >= 0) close(outputs[1]);
    if (errors[1] >= 0) close(errors[1]);
    if (code != 0) {
        if (outputs[0] >= 0) close(outputs[0]);
        if (errors[0] >= 0) close(errors[0]);
        return -code;
    }
    *output = outputs[0];
    *error = errors[0];
    return process;
}

#else

pid_t lectern_asset_spawn(const char *program, char *const arguments[], const uint8_t *bytes, size_t count,
                          const uint8_t *secret, size_t secret_count, int *output, int *error) {
    return -ENOSYS;
}

#endif
