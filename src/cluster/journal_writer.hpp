#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/database.hpp"
#include "cluster/entry.hpp"
#include "cluster/key.hpp"
#include "cluster/lease.hpp"
#include "cluster/lease_keeper.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"
#include "store/commit_sink.hpp"

namespace cluster {

// What the operator wants an acknowledgement to mean.
enum class Durability {
    standby,  // on two disks: the primary's and that of a synchronous standby
    storage,  // whatever the database says: it replicates below us
};

// Whether an acknowledgement means that; also of a take.
[[nodiscard]] inline bool is_durable(Durability wanted, unsigned standbys) {
    return wanted == Durability::storage || standbys > 0;
}

// Why it does not, and what the log says when that begins and ends.
inline constexpr std::string_view one_disk = "the database acknowledges on one disk only";
void log_one_disk(ports::Logger& logger);
void log_durable_again(ports::Logger& logger);

// The clocks of a step, as its engine believes them.
struct EntryTimes {
    domain::Timestamp wall{};
    domain::Timestamp steady{};
};

// What the journal of one ownership has cost.
struct JournalReadings {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;             // sealed
    domain::Nanoseconds last_latency{};  // of the last entry, from sealing to acknowledgement
    std::optional<domain::Timestamp> last_entry{};  // when it was decided, by the owner's clock
    std::uint64_t settled = 0;                      // entries whose outcome had to be read
    std::optional<std::string> one_disk{};  // why an acknowledgement was not believed, since then
};

// Has the transactions of an owner's store decided: each is an entry of the journal, fenced by the
// epoch of the lease, and acknowledged by the database before the local commit. Thread of the
// store; a call holds it as long as a lease lasts at most, and one call of the database.
//
// Where the outcome of an insert is not known, the own epoch is raised: the database then lets the
// old insert come before it or never. What can be read after that decides; nothing is decided anew.
class JournalWriter : public store::CommitSink {
public:
    struct Parts {
        Database& database;
        const Keys& keys;
        Lease& lease;
        ports::Random& random;
        const ports::Clock& clock;
        ports::Logger& logger;
        std::function<EntryTimes()> times;
        // Waits before the database is asked once more.
        std::function<void(domain::Milliseconds)> pause;
    };
    struct Options {
        Ownership self;
        Durability durability = Durability::standby;
        std::uint32_t schema = 0;
        LeaseOptions lease{};
    };

    // `position`: of the store's file, which has all that the journal has.
    JournalWriter(Parts parts, Options options, store::JournalPosition position);

    // As CommitSink says. NotDecided: no connection, and the lease is held; OwnershipLost: it is
    // not, or the database says that somebody else owns the book.
    [[nodiscard]] store::JournalPosition decide(const store::RowChanges& changes) override;
    void committed() noexcept override {}
    // The same for an entry that brings the file to this schema; see store::migrate_book().
    [[nodiscard]] store::JournalPosition decide_migration(int schema);

    // The last entry that was acknowledged: followers may apply it.
    [[nodiscard]] std::int64_t stable() const { return stable_; }
    // For the lease's thread.
    [[nodiscard]] JournalReadings readings() const;

private:
    // Of one entry, while it is decided: by epoch, the forms in which it was sent.
    struct Sent {
        std::int64_t epoch = 0;
        domain::Bytes32 hash{};
    };
    enum class Settled { is_there, is_absent };

    [[nodiscard]] store::JournalPosition decide(const Entry& entry);
    [[nodiscard]] Entry entry_of(EntryKind kind, std::uint32_t schema, domain::Bytes payload) const;
    [[nodiscard]] domain::Bytes seal(const Entry& entry, std::int64_t epoch) const;
    // Whether the database has it on as many disks as wanted; says so when that changes.
    [[nodiscard]] bool believes(unsigned standbys);
    [[nodiscard]] std::optional<store::JournalPosition> append(const Entry& entry,
                                                               std::vector<Sent>& sent);
    [[nodiscard]] std::optional<store::JournalPosition> settle(const std::vector<Sent>& sent,
                                                               domain::Monotonic until);
    [[nodiscard]] bool raise_epoch();
    [[nodiscard]] store::JournalPosition position_of(const Sent& sent) const;
    void require_lease() const;
    [[noreturn]] void lose(const std::string& reason);

    const Parts parts_;
    const Options options_;
    store::JournalPosition position_;
    std::atomic<std::int64_t> stable_;

    mutable std::mutex mutex_;  // for what follows
    JournalReadings readings_;
};

}  // namespace cluster
