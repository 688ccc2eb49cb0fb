#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "cluster/node_state.hpp"
#include "commands/reload.hpp"
#include "config/settings.hpp"
#include "domain/time.hpp"
#include "platform/log.hpp"
#include "ports/clock.hpp"
#include "ports/random.hpp"

namespace commands {

// What clients, operators and scrapers see of a node that follows.
class FollowerFront {
public:
    struct Parts {
        const config::Settings& settings;
        const cluster::NodeView& node;
        ports::Clock& clock;
        ports::Random& random;
        platform::Log& log;
    };

    // Listens on these sockets. Throws std::runtime_error that says what can not be used.
    FollowerFront(const Parts& parts, std::vector<base::Descriptor> sockets);
    ~FollowerFront();
    FollowerFront(const FollowerFront&) = delete;
    FollowerFront& operator=(const FollowerFront&) = delete;

    // Commands of this machine are answered from the file, which is there.
    void answer_commands();
    // Nobody here has the file open any more.
    void leave_file();
    // What is read again.
    [[nodiscard]] Reloads& reloads();
    // Somebody else may own the book now.
    void look_at_owner();
    // Answers what waits, as far as that goes in this time.
    void drain(domain::Milliseconds patience);

private:
    class Listening;
    const std::unique_ptr<Listening> listening_;
};

}  // namespace commands
