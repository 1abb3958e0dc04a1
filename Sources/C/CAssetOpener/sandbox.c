#define _GNU_SOURCE
#include "opener.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Landlock (Linux 5.13): which files can be read, whatever the process's user may read. A second fence, where the kernel
// has it: without it, a program of poppler that is taken over could read what the daemon's user can, and show it in a
// picture.
static void restrict_files(bool programs) {
    struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                             LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                             LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                             LANDLOCK_ACCESS_FS_MAKE_SYM,
    };
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (ruleset < 0) return;
    // Programs and their libraries; fonts, for the text of PDFs that do not bring theirs.
    static const char *const readable[] = {"/usr",        "/lib",       "/lib64", "/etc/ld.so.cache",
                                           "/etc/fonts",  "/var/cache/fontconfig", NULL};
    for (int i = 0; programs && readable[i] != NULL; i++) {
        int place = open(readable[i], O_PATH | O_CLOEXEC);
        if (place < 0) continue;
        struct landlock_path_beneath_attr rule = {
            .allowed_access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
            .parent_fd = place,
        };
        if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0 && errno == EINVAL) {
            // A file, not a folder.
            rule.allowed_access &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
            syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        }
        close(place);
    }
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
        asset_fail(lectern_asset_no_sandbox, "files cannot be restricted: %s", strerror(errno));
    }
    close(ruleset);
}

bool lectern_asset_restricts_files(void) {
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

// What both kinds of child need: memory, their own descriptors, time, their end. Everything else fails with EPERM: no
// sockets, no new processes or threads, no signals to others, no changes of files.
static const int common[] = {
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(lseek),
    SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect),
    SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack), SCMP_SYS(futex), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

// What a program needs to start, and poppler to find fonts.
static const int of_programs[] = {
    SCMP_SYS(execve), SCMP_SYS(newfstatat), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getdents64),
    SCMP_SYS(fstatfs), SCMP_SYS(statfs), SCMP_SYS(fadvise64), SCMP_SYS(getcwd), SCMP_SYS(dup),
    SCMP_SYS(arch_prctl), SCMP_SYS(set_tid_address), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(getuid),
    SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(time),
};

// seccomp cannot count threads. Those of this process's user are counted together, the daemon's and other programs' among
// them, so that the bound is far above what these have, and below what a machine can have. The kernel does not hold root
// to it: there the bound is that of the service or container (TasksMax, --pids-limit).
enum { most_threads_of_user = 4096 };

static void limit_threads(void) {
    struct rlimit bound;
    int code = getrlimit(RLIMIT_NPROC, &bound);
    if (code == 0 && bound.rlim_max > most_threads_of_user) {
        bound.rlim_max = most_threads_of_user;
        if (bound.rlim_cur > bound.rlim_max) bound.rlim_cur = bound.rlim_max;
        code = setrlimit(RLIMIT_NPROC, &bound);
    }
    if (code != 0) asset_fail(lectern_asset_no_sandbox, "threads cannot be limited: %s", strerror(errno));
}

// A thread shares all with the process, and ends with it. The flags of clone3 cannot be looked at: glibc then uses clone.
static int add_threads(scmp_filter_ctx filter) {
    const scmp_datum_t shared = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    int code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, shared, shared));
    if (code == 0) code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (code == 0) code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(set_robust_list), 0);
    if (code == 0) code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(rseq), 0);
    return code;
}

static int add_rules(scmp_filter_ctx filter, enum asset_sandbox kind) {
    bool programs = kind == asset_sandbox_programs;
    int code = kind == asset_sandbox_threads ? add_threads(filter) : 0;
    for (size_t i = 0; i < sizeof common / sizeof *common && code == 0; i++) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, common[i], 0);
    }
    // abort() signals its own process.
    if (code == 0) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    }
    for (size_t i = 0; programs && i < sizeof of_programs / sizeof *of_programs && code == 0; i++) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, of_programs[i], 0);
    }
    if (!programs || code != 0) return code;
    // Files are opened to be read.
    const scmp_datum_t changing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, changing, 0));
    if (code == 0) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, changing, 0));
    }
    // F_SETOWN and F_SETSIG would send any signal to any process of this user.
    static const scmp_datum_t controls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
    for (size_t i = 0; i < sizeof controls / sizeof *controls && code == 0; i++) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, controls[i]));
    }
    // Limits can be read, not raised.
    if (code == 0) {
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0));
    }
    return code;
}

void asset_enter_sandbox(enum asset_sandbox kind) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        asset_fail(lectern_asset_no_sandbox, "new privileges cannot be ruled out: %s", strerror(errno));
    }
    restrict_files(kind == asset_sandbox_programs);
    if (kind == asset_sandbox_threads) limit_threads();
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL) asset_fail(lectern_asset_no_sandbox, "seccomp cannot be had");
    // Of all threads, should the runtime have begun any.
    int code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (code == 0) code = add_rules(filter, kind);
    if (code == 0) code = seccomp_load(filter);
    if (code != 0) asset_fail(lectern_asset_no_sandbox, "seccomp cannot be had: %s", strerror(-code));
    seccomp_release(filter);
}

#else

bool lectern_asset_restricts_files(void) { return false; }

#endif
