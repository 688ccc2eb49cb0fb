#pragma once

#include <sys/types.h>

#include <optional>

#include "base/descriptor.hpp"
#include "chains/votes/prover/children.hpp"

namespace chains::votes::prover {

struct CommandEnd {
    bool by_signal = false;
    int number = 0;  // of the signal, else the exit code
};

// Our ends of a child's standard streams; they never block.
struct CommandStreams {
    base::Descriptor input;  // to write
    base::Descriptor output;
    base::Descriptor errors;
};

// A child process that leads a group of its own. When the object goes, the group is killed and the
// child reaped.
class CommandProcess {
public:
    // `handle` is the process as a descriptor (pidfd_open(2)). `children`: where it stands until it
    // is reaped; null: nowhere.
    CommandProcess(pid_t pid, base::Descriptor handle, CommandStreams streams, Children* children);
    CommandProcess(const CommandProcess&) = delete;
    CommandProcess& operator=(const CommandProcess&) = delete;
    ~CommandProcess();

    [[nodiscard]] int handle() const { return handle_.get(); }  // readable once the child is dead
    [[nodiscard]] int input() const { return streams_.input.get(); }  // -1: closed
    [[nodiscard]] int output() const { return streams_.output.get(); }
    [[nodiscard]] int errors() const { return streams_.errors.get(); }  // -1: closed
    void close_input() { streams_.input = base::Descriptor(); }
    // Makes room for more of its errors: whoever writes into a full pipe waits.
    void discard_errors();

    // Nothing while it lives.
    [[nodiscard]] std::optional<CommandEnd> end() const;
    // It lives and said nothing that we have not read.
    [[nodiscard]] bool is_quiet() const;

private:
    const pid_t pid_;
    const base::Descriptor handle_;
    CommandStreams streams_;
    Children* const children_;
};

}  // namespace chains::votes::prover
