#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/database.hpp"
#include "cluster/journal_writer.hpp"
#include "cluster/key.hpp"
#include "cluster/lease.hpp"
#include "cluster/lease_keeper.hpp"
#include "cluster/replica.hpp"
#include "cluster/succession.hpp"
#include "store/follower.hpp"
#include "store/options.hpp"
#include "support/simulated_database.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

namespace cluster_test {

// What an ownership gives to whoever decides in it.
struct OwnerParts {
    const store::Options& file;
    cluster::JournalWriter& journal;
    const cluster::Lease& lease;
    // For a build that must be caught, which writes the journal in a way of its own.
    cluster::Database& database;
    const cluster::Keys& keys;
    store::JournalPosition position;
    std::int64_t epoch = 0;

    support::VirtualClock& clock;
    support::SeededRandom& random;
    support::RecordingLogger& log;
};

// What decides for as long as the node owns the book. Has the store open. Throws OwnershipLost.
class OwnerWork {
public:
    virtual ~OwnerWork() = default;
    virtual void step() = 0;
};
using MakeWork = std::function<std::unique_ptr<OwnerWork>(const OwnerParts&)>;

// A node of a book in virtual time, with files of its own: follows, takes over, decides, and dies.
class SimulatedNode {
public:
    SimulatedNode(char name, support::VirtualClock& clock, support::SimulatedServer& server,
                  MakeWork make_work, std::uint64_t seed);
    ~SimulatedNode();

    // A build that must be caught: goes on deciding when its lease is over.
    void ignore_lease() { ignores_lease_ = true; }
    // Nobody asks it for anything any more.
    void rest() { is_resting_ = true; }

    // It does what is due by now.
    void step();
    // kill -9. The file is as the last local commit left it, or lacks what was not synced.
    void kill();
    void start();
    // SIGSTOP and SIGCONT: it goes on in the middle of what it did.
    void freeze() { is_frozen_ = true; }
    void thaw() { is_frozen_ = false; }

    // While it is down: it is started with a program that knows one schema more.
    void upgrade(const std::string& migration) { file_.further_migrations.push_back(migration); }

    [[nodiscard]] bool is_up() const { return is_up_; }
    [[nodiscard]] bool is_owner() const { return owner_ != nullptr; }
    // Null: it does not own the book.
    [[nodiscard]] OwnerWork* work() const { return owner_ ? owner_->work.get() : nullptr; }
    // Of the last entry in its file.
    [[nodiscard]] std::int64_t seq() const;
    [[nodiscard]] domain::Bytes32 digest() const;
    [[nodiscard]] cluster::Obstacle obstacle() const;
    [[nodiscard]] std::string reason() const { return replica_ ? replica_->reason() : ""; }
    [[nodiscard]] const store::Options& file() const { return file_; }
    [[nodiscard]] const support::RecordingLogger& log() const { return log_; }

private:
    // What an ownership has and what ends with it.
    struct Owning {
        Owning(SimulatedNode& node, std::int64_t epoch, domain::Monotonic sent,
               const store::JournalPosition& position);

        cluster::Lease lease;
        support::SimulatedDatabase lease_connection;
        cluster::LeaseKeeper keeper;
        cluster::JournalWriter writer;
        std::unique_ptr<OwnerWork> work;
        domain::Monotonic renew_at{};
    };

    void follow();
    void begin_ownership(const cluster::Succession::Won& won);
    void own();
    [[nodiscard]] std::uint32_t schema() const;
    void open_replica();
    void end_ownership();

    const char name_;
    support::VirtualClock& clock_;
    support::SimulatedServer& server_;
    const MakeWork make_work_;
    support::SeededRandom random_;
    support::RecordingLogger log_;
    const cluster::Keys keys_;
    support::TempDirectory directory_;
    store::Options file_;
    cluster::LeaseOptions lease_;
    cluster::Instance instance_{};
    bool ignores_lease_ = false;

    bool is_up_ = false;
    bool is_frozen_ = false;
    bool is_resting_ = false;
    domain::Monotonic next_look_{};
    std::optional<support::SimulatedDatabase> connection_;
    std::unique_ptr<store::Follower> follower_;
    std::unique_ptr<cluster::Replica> replica_;
    std::unique_ptr<cluster::Succession> succession_;
    std::unique_ptr<Owning> owner_;
};

}  // namespace cluster_test
