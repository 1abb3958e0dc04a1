// The sandbox that files are opened in.

#pragma once

#if defined(__cplusplus)
extern "C" {
#endif

// What is left besides reading open descriptors and writing to them.
enum asset_sandbox {
    asset_sandbox_nothing,
    // Threads of this process, up to a number of all threads of its user.
    asset_sandbox_threads,
    // Reading files of the system, and becoming one of its programs.
    asset_sandbox_programs,
};

// Gives up everything else, for good. Ends the process where that cannot be had. Linux only.
void asset_enter_sandbox(enum asset_sandbox kind);

#if defined(__cplusplus)
}
#endif
