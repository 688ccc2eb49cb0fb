#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/access/authenticator.hpp"
#include "api/admin/recent_rates.hpp"
#include "api/long_polls.hpp"
#include "api/metrics/metrics.hpp"
#include "base/descriptor.hpp"
#include "cluster/node_state.hpp"
#include "cluster/options.hpp"
#include "commands/relayer_chain.hpp"
#include "commands/round_alerts.hpp"
#include "commands/service_status.hpp"
#include "commands/service_threads.hpp"
#include "commands/stored_tuning.hpp"
#include "commands/vote_service.hpp"
#include "config/settings.hpp"
#include "engine/gates.hpp"
#include "engine/inbox.hpp"
#include "engine/observer.hpp"
#include "engine/processor.hpp"
#include "engine/service.hpp"
#include "engine/stored_rounds.hpp"
#include "platform/crash_mark.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "platform/secure_random.hpp"
#include "platform/service_manager.hpp"
#include "store/reader.hpp"
#include "store/store.hpp"

namespace commands {

// What a service has of the book that this node owns.
struct OwnedBook {
    store::CommitSink& sink;
    const cluster::NodeView& node;
    const cluster::Options& options;
    cluster::Instance instance{};
    domain::Nanoseconds clock_behind{};     // so much slower than the machine's is its clock
    bool succeeds_itself = false;           // the owner before was this process, and did not crash
    std::vector<base::Descriptor> sockets;  // where clients are listened for
    // Another node is to own it: why not, or nothing once it was given back. Any thread; blocks.
    std::function<std::optional<std::string>()> step_down;
};

// What `serve` is made of, in the order in which it is made: the constructor opens the files and
// wires the parts. Whatever step fails, what was made goes away in the reverse order. One thread.
class Service {
public:
    // All outlive it. `book`: null: the data directory is of this machine alone. Throws
    // std::runtime_error that says what can not be used: keys, the data directory, a chain.
    Service(const config::Settings& settings, platform::Log& log, OwnedBook* book = nullptr);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    // In this order, each once.
    void recover();  // what was in work when the process ended
    void listen();   // opens the ports and starts the threads
    int wait();      // until a signal comes that is no reload; which one
    void stop();     // answers what is under way, within bounds, and leaves the files in order

    // Instead of stop(), for the owner of a book. Nothing is decided any more when it returns: what
    // was in work is released, and what waits is refused.
    void hand_over();
    // After wait(): why it has lost the book, if it has.
    [[nodiscard]] std::optional<std::string> lost_book() const;
    // Instead of all else: the ownership has ended. Whoever waits is refused, as far as a moment
    // allows.
    void abandon();

    // After stop(): of the program, one of config/exit_status.hpp.
    [[nodiscard]] int exit_status() const;

private:
    class Frontend;

    [[nodiscard]] std::string status_line() const;

    const config::Settings& settings_;
    platform::Log& log_;
    OwnedBook* const book_;
    platform::ServiceManager service_manager_;
    // Before anything is opened: their descriptors are told by number.
    std::vector<base::Descriptor> sockets_;
    platform::RealClock clock_;
    platform::SecureRandom random_;
    std::optional<platform::CrashMark> crash_mark_;  // none: of a book
    // Before anything is on disk: with bad keys there is no start.
    api::access::Authenticator authenticator_;
    store::Store store_;
    store::Reader reader_;

    api::ClientTraffic client_traffic_;
    api::metrics::Metrics metrics_;
    api::admin::RecentRates rates_;
    const std::unique_ptr<RelayerChain> chain_;
    const std::unique_ptr<VoteService> votes_;
    engine::Gateway& gateway_;

    engine::Gates gates_;
    const engine::Tuning configured_;
    const api::admin::RestoredTuning restored_;
    engine::Inbox inbox_;
    api::LongPolls long_polls_;
    engine::Observers observers_;
    const std::unique_ptr<RoundAlerts> round_alerts_;
    ServiceStatus status_;
    engine::Processor processor_;
    const StopAtEnd end_of_events_;
    engine::Service engine_;
    const engine::VoteChain vote_chain_;
    engine::StoredRounds rounds_;

    std::atomic<bool> stopping_{false};
    std::unique_ptr<Frontend> frontend_;  // while it listens
};

}  // namespace commands
