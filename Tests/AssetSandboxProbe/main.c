// Tries what a taken-over child of the asset opener would: prints a line for each attempt, and whether it was refused.
//
// Called as the opener calls its child, it takes the means of a sandbox away and becomes the program beside it.

#define _GNU_SOURCE
#include <stdio.h>

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asset_sandbox.h"

static void tell(const char *what, long result) { printf("%s: %s\n", what, result < 0 ? strerror(errno) : "allowed"); }

// Prints how many threads and processes the user of this process may have, from /proc/self/limits, opened before.
static void tell_most_threads(int limits) {
    static const char name[] = "Max processes";
    char text[4096] = "";
    if (pread(limits, text, sizeof text - 1, 0) <= 0) return;
    const char *line = strstr(text, name);
    if (line != NULL) printf("most threads: %ld\n", strtol(line + sizeof name - 1, NULL, 10));
}

static void *idle(void *argument) { return argument; }

static int attempt(enum asset_sandbox kind, const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/kept", folder);
    // stdio allocates and looks at its descriptor when it is first used.
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    printf("attempts\n");
    pid_t parent = getppid();
    // Its version, where the kernel has it.
    tell("landlock", syscall(SYS_landlock_create_ruleset, NULL, 0, 1));
    int limits = open("/proc/self/limits", O_RDONLY);
    asset_enter_sandbox(kind);
    tell_most_threads(limits);
    tell("socket", socket(AF_INET, SOCK_STREAM, 0));
    tell("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
    tell("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
    tell("fork", fork());
    pthread_t thread;
    int code = pthread_create(&thread, NULL, idle, NULL);
    errno = code;
    tell("thread", code == 0 ? 0 : -1);
    tell("signal", kill(parent, 0));
    // The kernel sends a signal of the child's choice when a pipe can be read.
    tell("signal owner", fcntl(STDOUT_FILENO, F_SETOWN, parent));
    tell("signal number", fcntl(STDOUT_FILENO, F_SETSIG, SIGKILL));
    tell("trace", syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, parent, 0, 0));
    tell("change", open(path, O_WRONLY));
    tell("create", open("/tmp/lectern-sandbox-probe", O_WRONLY | O_CREAT, 0600));
    tell("truncate", syscall(SYS_truncate, path, 0));
    tell("delete", unlink(path));
    tell("rename", rename(path, "/tmp/lectern-sandbox-probe"));
    tell("folder", mkdir("/tmp/lectern-sandbox-probe", 0700));
    tell("mode", chmod(path, 0777));
    tell("read a file of others", open(path, O_RDONLY));
    tell("read passwords", open("/etc/passwd", O_RDONLY));
    tell("read the parent", syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    tell("raise limits", setrlimit(RLIMIT_AS, &more));
    tell("read fonts", open("/usr/share", O_RDONLY | O_DIRECTORY));
    fflush(stdout);
    _exit(0);
}

static int without_sandbox(char *arguments[]) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp), 0);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
    if (seccomp_load(filter) != 0) return 1;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    if (length < 0) return 1;
    path[length] = 0;
    char *folder = dirname(path);
    char program[4200];
    snprintf(program, sizeof program, "%s/lectern", folder);
    arguments[0] = program;
    execv(program, arguments);
    return 1;
}

int main(int count, char *arguments[]) {
    if (count > 1 && strcmp(arguments[1], "open-asset") == 0) return without_sandbox(arguments);
    if (count != 3) return 2;
    enum asset_sandbox kind = strcmp(arguments[1], "programs") == 0 ? asset_sandbox_programs
                              : strcmp(arguments[1], "threads") == 0 ? asset_sandbox_threads
                                                                     : asset_sandbox_nothing;
    return attempt(kind, arguments[2]);
}

#else

int main(void) { return 2; }

#endif
