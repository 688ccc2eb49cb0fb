#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/stop_token.hpp"
#include "cluster/database.hpp"
#include "cluster/node_state.hpp"
#include "cluster/replica.hpp"
#include "cluster/succession.hpp"
#include "commands/book_upkeep.hpp"
#include "commands/ownership.hpp"
#include "config/settings.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "platform/restart.hpp"
#include "platform/secure_random.hpp"
#include "platform/service_manager.hpp"
#include "store/follower.hpp"

namespace commands {

class FollowerFront;

// A machine of several that keep one book: it follows the owner and hands requests on to it, and
// runs the service itself while it owns the book. An ownership that ends ends this program, which
// begins anew as a follower: nothing of what it decided, was about to send or had in memory goes
// on. One thread, but for what says otherwise.
class Node : public cluster::NodeView {
public:
    // Both outlive it; the settings have a cluster. Takes over what an earlier life of this process
    // left. Throws std::runtime_error that says what can not be used.
    Node(const config::Settings& settings, platform::Log& log);
    ~Node() override;

    // Until a signal ends it; returns the exit status of the program.
    [[nodiscard]] int run();

    [[nodiscard]] cluster::NodeState state() const override;
    [[nodiscard]] bool may_answer() const override;

private:
    struct Following;

    // The file of this directory belongs to the book, or there is none yet. Throws BadSettings.
    void require_member() const;
    // Null: it was asked to stop.
    [[nodiscard]] std::unique_ptr<Ownership> follow();
    // False: not now.
    [[nodiscard]] bool open_file(Following& following);
    [[nodiscard]] bool take_snapshot();
    void tidy(Following& following);
    void note(const Following& following);
    // Empty: it is well.
    void note_disk(const std::string& problem);
    [[nodiscard]] std::unique_ptr<Ownership> begin_to_own(Following& following,
                                                          const cluster::Succession::Won& won);
    // Once it is, it stays so.
    [[nodiscard]] bool is_asked_to_stop(domain::Nanoseconds pause);

    [[nodiscard]] int own(Ownership& ownership);
    [[nodiscard]] int serve_as_owner(Ownership& ownership);
    void let_go(Ownership* ownership);
    // Where an exception was caught, which goes on.
    [[noreturn]] void fail(Ownership& ownership);
    // Why it was not, so far.
    [[nodiscard]] std::optional<std::string> wait_until_given_back() const;
    [[noreturn]] void end_at_once();
    [[noreturn]] void begin_anew(bool yields);

    [[nodiscard]] std::vector<base::Descriptor> copies_of_sockets() const;
    [[nodiscard]] BookParts parts();

    const config::Settings& settings_;
    const cluster::Options& options_;
    platform::Log& log_;
    platform::ServiceManager service_manager_;
    platform::RealClock clock_;
    mutable platform::SecureRandom random_;
    platform::Handover handover_;
    std::vector<base::Descriptor> listening_;
    base::StopToken stop_;
    cluster::Instance instance_{};
    const std::unique_ptr<cluster::Database> database_;
    store::JournalPosition position_;     // of the file, when the book was won
    domain::Nanoseconds clock_behind_{};  // of an owner
    bool succeeds_itself_ = false;        // an owner that was one in an earlier life, and the last
    std::unique_ptr<FollowerFront> front_;
    bool is_asked_to_stop_ = false;

    std::atomic<bool> serves_{false};  // as the owner
    std::atomic<bool> lost_{false};
    std::atomic<bool> steps_down_{false};

    mutable std::mutex mutex_;  // for what follows
    cluster::NodeState state_;
    Ownership* ownership_ = nullptr;

    std::unique_ptr<BookUpkeep> upkeep_;  // of an owner
};

}  // namespace commands
