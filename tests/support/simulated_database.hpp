#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/database.hpp"
#include "support/virtual_time.hpp"

namespace support {

// The tables of one book.
struct SimulatedBook {
    cluster::Owner owner;
    std::map<std::int64_t, cluster::StoredEntry> journal;
    using SnapshotKey = std::pair<std::int64_t, cluster::SnapshotId>;
    std::map<SnapshotKey, cluster::Snapshot> heads;
    std::map<std::pair<SnapshotKey, std::int64_t>, domain::Bytes> parts;
    std::map<std::string, cluster::Node, std::less<>> nodes;
};

// A primary with a synchronous standby, in memory and in virtual time; everything follows from the
// seed and the calls. What waits for the standby is on the primary's disk, is seen by nobody, and
// keeps its locks, as in PostgreSQL. One thread; outlives its connections.
class SimulatedServer {
public:
    // Of thousand calls so many.
    struct Faults {
        std::uint32_t unreachable = 0;  // no connection
        std::uint32_t lost = 0;         // the statement never arrives
        std::uint32_t late = 0;         // it arrives when deliver_late() lets it
        std::uint32_t cancelled = 0;    // the wait for the standby is cancelled: a warning
        std::uint32_t unanswered = 0;   // done, but the answer is lost
    };

    SimulatedServer(VirtualClock& clock, std::uint64_t seed) : clock_(clock), random_(seed) {}

    void set_faults(const Faults& faults) { faults_ = faults; }
    // Writes wait from now on, and no longer.
    void lose_standby() { has_standby_ = false; }
    void return_standby();
    // No write waits for a standby any more, and none says that one has it.
    void stop_waiting_for_standbys();
    // The standby has caught up, and they wait again.
    void wait_for_standbys();
    // What waits becomes visible, and no standby has it.
    void cancel_waits();
    // The primary dies and comes back with what is on its disk.
    void crash();
    // The standby becomes the primary, with what it has.
    void promote();
    // The same with a standby that lacks the last `writes` that were acknowledged.
    void promote_older(std::size_t writes);
    // What is on its way arrives, in some order; what is held up by a lock stays on its way.
    void deliver_late();

    // As if inserts did not ask for epoch, entry before and key, to see that tests notice.
    void drop_fencing() { is_fencing_ = false; }

    // As a reader sees it now; null: no such book.
    [[nodiscard]] const SimulatedBook* book(const std::string& name, std::int64_t shard = 0) const;

private:
    friend class SimulatedDatabase;

    using Key = std::pair<std::string, std::int64_t>;
    using Effect = std::function<void(SimulatedBook&)>;
    // What a statement does to the book it finds; nothing: it changes nothing. Null: no such book.
    using Decide = std::function<std::optional<Effect>(const SimulatedBook*)>;

    struct Lock {
        std::string row;
        bool is_exclusive = true;
    };
    struct Write {
        Key key;
        std::vector<Lock> locks;
        Decide decide;
    };
    struct Decided {
        Key key;
        std::vector<Lock> locks;
        Effect effect;
    };
    enum class End { done, declined, unavailable, unknown };

    [[nodiscard]] End write(Write write, domain::Milliseconds timeout);
    [[nodiscard]] bool is_reached();  // of a read
    [[nodiscard]] bool is_locked(const Write& write) const;
    void commit(const Decided& decided);
    void rebuild(std::size_t writes);

    VirtualClock& clock_;
    SeededRandom random_;
    Faults faults_;
    bool has_standby_ = true;
    bool is_synchronous_ = true;
    bool is_fencing_ = true;

    std::map<Key, SimulatedBook> books_;
    std::vector<Decided> log_;      // all that is visible, in order
    std::size_t replicated_ = 0;    // so many of them does the standby have
    std::vector<Decided> waiting_;  // for the standby
    std::vector<Write> late_;
    std::uint64_t generation_ = 0;  // of the server; connections end with it
};

class SimulatedDatabase : public cluster::Database {
public:
    SimulatedDatabase(SimulatedServer& server, std::string book, std::int64_t shard = 0,
                      domain::Milliseconds timeout = domain::Milliseconds{2'000})
        : server_(server), key_(std::move(book), shard), timeout_(timeout) {}

    [[nodiscard]] std::uint64_t connections() const override { return connections_; }
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Exists> initialise(
        const domain::Bytes32& genesis) override;

    [[nodiscard]] cluster::Read<std::optional<cluster::Owner>> read_owner() override;
    [[nodiscard]] cluster::Outcome<cluster::Taken, cluster::Fenced> take(
        const cluster::Seen& seen, const cluster::Candidate& candidate) override;
    [[nodiscard]] cluster::Outcome<cluster::Renewed, cluster::Fenced> renew(
        std::int64_t epoch, std::int64_t stable) override;
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Fenced> resign(
        std::int64_t epoch, const cluster::Instance& instance) override;

    [[nodiscard]] cluster::Outcome<cluster::Appended, cluster::Fenced> append(
        const cluster::NewEntry& entry) override;
    [[nodiscard]] cluster::Read<std::optional<cluster::StoredEntry>> read(
        std::int64_t seq) override;
    [[nodiscard]] cluster::Read<std::vector<cluster::StoredEntry>> read_range(
        const cluster::Range& range) override;
    [[nodiscard]] cluster::Read<std::optional<cluster::Extent>> extent() override;
    [[nodiscard]] cluster::Read<std::int64_t> journal_bytes() override;
    [[nodiscard]] cluster::Outcome<cluster::Trimmed> trim(std::int64_t below,
                                                          std::int64_t entries_max) override;

    [[nodiscard]] cluster::Outcome<cluster::Done> put_part(const cluster::Snapshot& snapshot,
                                                           std::int64_t part,
                                                           domain::ByteView bytes) override;
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Absent> put_head(
        const cluster::Snapshot& snapshot) override;
    [[nodiscard]] cluster::Read<std::vector<cluster::Snapshot>> read_heads() override;
    [[nodiscard]] cluster::Read<std::optional<domain::Bytes>> read_part(
        const cluster::Snapshot& snapshot, std::int64_t part) override;
    [[nodiscard]] cluster::Read<std::vector<cluster::Snapshot>> read_unfinished() override;
    [[nodiscard]] cluster::Outcome<cluster::Dropped> drop_old_snapshots(
        std::int64_t parts_max) override;
    [[nodiscard]] cluster::Outcome<cluster::Dropped> drop_unfinished(
        const cluster::Snapshot& snapshot, std::int64_t parts_max) override;

    [[nodiscard]] cluster::Outcome<cluster::Done> register_node(const cluster::Node& node) override;
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Absent> progress(
        std::string_view name, std::int64_t seq, domain::Timestamp seen) override;
    [[nodiscard]] cluster::Read<std::vector<cluster::Node>> nodes() override;
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Absent> forget(
        std::string_view name) override;

private:
    using End = SimulatedServer::End;
    using Effect = SimulatedServer::Effect;
    using Decide = SimulatedServer::Decide;

    void connect();
    [[nodiscard]] End write(std::vector<SimulatedServer::Lock> locks, Decide decide);
    // Parts of these that have no head, at most so many.
    using IsMeant = std::function<bool(const SimulatedBook&, const SimulatedBook::SnapshotKey&)>;
    [[nodiscard]] cluster::Outcome<cluster::Dropped> drop_parts(IsMeant is_meant,
                                                                std::int64_t parts_max);
    // Null with `true`: no such book.
    [[nodiscard]] std::pair<const SimulatedBook*, bool> look();
    [[nodiscard]] unsigned standbys() const { return server_.is_synchronous_ ? 1 : 0; }

    SimulatedServer& server_;
    const SimulatedServer::Key key_;
    const domain::Milliseconds timeout_;
    bool is_open_ = false;
    std::uint64_t generation_ = 0;
    std::uint64_t connections_ = 0;
};

}  // namespace support
