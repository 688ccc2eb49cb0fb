#pragma once

#include <sys/types.h>

#include <cstdint>

namespace chains::votes::prover {

enum class ChildStep { streams, limits, exec };

// What the child writes to `report` when it can not become the program.
struct ChildFailure {
    ChildStep step;
    int error;  // errno
};

// Made before the fork; nothing may be allocated behind it.
struct ChildPlan {
    const char* path;
    char* const* arguments;
    char* const* environment;
    int input;
    int output;
    int errors;
    int report;  // closed when the program runs
    pid_t parent;
    std::uint64_t memory_bytes_max;  // 0: no limit
};

// In the child of a process with threads, all signals blocked: only calls that are safe there
// (signal-safety(7)).
[[noreturn]] void become_program(const ChildPlan& plan) noexcept;

}  // namespace chains::votes::prover
