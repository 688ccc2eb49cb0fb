#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace cluster {

// How a call ends that gives no other answer; `reason` is one line without secrets.
//
// Nothing was written and nothing will be: there is no connection, or the server refused. Asking
// again later may help.
struct Unavailable {
    std::string reason;
};
// What was asked for may have happened, and may happen still: the connection broke, no answer came
// in time, or the server warned that its standby does not have it yet. Only a take() that is
// acknowledged and a read() after it tell. The connection is closed, and nothing was cancelled.
struct Unknown {
    std::string reason;
};

template <class Found>
using Read = std::variant<Found, Unavailable>;
template <class... Answers>
using Outcome = std::variant<Answers..., Unavailable, Unknown>;

struct Done {};
// Somebody else's epoch has begun, or the journal does not end where the caller believes. Nothing
// was written.
struct Fenced {};
// It is there already. Nothing was written.
struct Exists {};
// There is no such thing, or not all of it. Nothing was written.
struct Absent {};

// Random for each start of a process; zeros: nobody, yet or any more.
using Instance = std::array<std::uint8_t, 16>;

struct Owner {
    std::int64_t epoch = 0;  // 0: nobody has owned the book yet
    std::string node;
    Instance instance{};
    std::string url;          // where other nodes reach it
    std::int64_t beat = 0;    // grows with each renewal
    std::int64_t stable = 0;  // the last entry that was acknowledged, as the owner said last
    // The server's own clock at the reading. A node is compared with it, nothing is counted by it.
    domain::Timestamp server_clock{};

    // Its place may be taken at once: nobody has had it yet, or who had it gave it back.
    [[nodiscard]] bool is_free() const { return instance == Instance{}; }
};

// Whose place a take() is for: nothing may have changed since.
struct Seen {
    std::int64_t epoch = 0;
    Instance instance{};
    // Nothing: whatever it is by now, for a node that raises its own epoch.
    std::optional<std::int64_t> beat{};
};

struct Candidate {
    std::string node;
    Instance instance{};
    std::string url;
};

// `standbys`: how many synchronous standbys have it on disk beside the primary, as the server's
// settings promise. 0: it lies on one disk only, unless the database replicates below us.
struct Taken {
    std::int64_t epoch = 0;
    unsigned standbys = 0;
};
struct Appended {
    unsigned standbys = 0;
};
struct Renewed {
    std::int64_t beat = 0;
};

// As it goes in; `bytes` are what seal_entry() made and lie in the caller's memory.
struct NewEntry {
    std::int64_t seq = 0;  // one more than the entry before; the first is 1
    std::int64_t epoch = 0;
    domain::Bytes32 previous{};  // hash of the entry before; of the first: the book's genesis
    domain::Bytes32 hash{};      // hash_of() this one
    std::int64_t stable = 0;     // the last entry that was acknowledged
    domain::ByteView bytes{};
};

// As it is read. It may not be acknowledged: followers go up to what is stable.
struct StoredEntry {
    std::int64_t seq = 0;
    std::int64_t epoch = 0;
    domain::Bytes32 previous{};
    domain::Bytes32 hash{};
    std::int64_t stable = 0;
    domain::Bytes bytes{};  // empty: the genesis, entry 0

    bool operator==(const StoredEntry&) const = default;
};

// What of the journal is there.
struct Extent {
    std::int64_t first = 0;  // earlier ones were trimmed
    std::int64_t last = 0;
    std::int64_t epoch = 0;  // of the last
    domain::Bytes32 hash{};  // of the last
};

// What to read: entries `from` to `to`, both included, as long as they have no more bytes than
// `bytes_max`; the first always comes. Of very many the later ones may be left out.
struct Range {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::size_t bytes_max = std::size_t{4} << 20U;
};

using SnapshotId = std::array<std::uint8_t, 16>;  // random

struct Snapshot {
    std::int64_t seq = 0;  // it is the file after this entry
    SnapshotId id{};
    std::int64_t parts = 0;
    domain::Bytes32 hash{};  // of the entry

    bool operator==(const Snapshot&) const = default;
};

struct Node {
    std::string name;
    std::string url;
    std::int64_t seq = 0;      // the last entry on its own disk
    domain::Timestamp seen{};  // by the node's wall clock. Whether it lives is seen by its
                               // changing, not by its age: clocks of nodes differ

    bool operator==(const Node&) const = default;
};

struct Trimmed {
    std::int64_t entries = 0;
};
struct Dropped {
    std::int64_t parts = 0;
};

// Port: one book in the distributed database, over one connection, which is made when it is needed
// and again after it was lost. Whoever must not wait for somebody else's call has an object of its
// own: one for the journal, one for the lease and the rest.
//
// One thread. A call holds it no longer than the object's time-out. No call throws for what the
// database does.
class Database {
public:
    virtual ~Database() = default;

    // How many connections there were. Whoever watches a beat begins anew with another one: it may
    // lead to another server.
    [[nodiscard]] virtual std::uint64_t connections() const = 0;

    // Makes tables where there are none, and the book. `genesis`: random, stands for the entry
    // before the first, so that a book made anew under an old name is another one.
    [[nodiscard]] virtual Outcome<Done, Exists> initialise(const domain::Bytes32& genesis) = 0;

    // --- owner and lease

    // Nothing: there is no such book.
    [[nodiscard]] virtual Read<std::optional<Owner>> read_owner() = 0;
    // Makes the candidate the owner of the next epoch, if all is as it was seen. It waits for
    // inserts of the old epoch, or makes them fail: from its acknowledgement on no entry of an
    // earlier epoch comes any more, and all that can be read is as safe as the acknowledgement
    // itself. A node raises its own epoch in the same way.
    //
    // After Unknown: read_owner(), and take from there, also when it tells of oneself. What was not
    // acknowledged has not carried the log before it.
    [[nodiscard]] virtual Outcome<Taken, Fenced> take(const Seen& seen,
                                                      const Candidate& candidate) = 0;
    // The owner lives. As safe as an entry: a primary that nobody follows any more renews nothing.
    // `stable` tells followers of the last acknowledged entry where no later one does.
    [[nodiscard]] virtual Outcome<Renewed, Fenced> renew(std::int64_t epoch,
                                                         std::int64_t stable) = 0;

    // Gives the book back: whoever reads the owner next may take it. Once nothing of this epoch is
    // written any more.
    [[nodiscard]] virtual Outcome<Done, Fenced> resign(std::int64_t epoch,
                                                       const Instance& instance) = 0;

    // --- journal

    // Fenced: also when the entry before is not there, or this one is.
    [[nodiscard]] virtual Outcome<Appended, Fenced> append(const NewEntry& entry) = 0;
    [[nodiscard]] virtual Read<std::optional<StoredEntry>> read(std::int64_t seq) = 0;
    // In order. Empty: there are none.
    [[nodiscard]] virtual Read<std::vector<StoredEntry>> read_range(const Range& range) = 0;
    // Nothing: there is no such book.
    [[nodiscard]] virtual Read<std::optional<Extent>> extent() = 0;
    // Of all entries; reads the sizes of all rows.
    [[nodiscard]] virtual Read<std::int64_t> journal_bytes() = 0;
    // Entries before `below`, oldest first, of at most `entries_max` numbers; never the last one.
    [[nodiscard]] virtual Outcome<Trimmed> trim(std::int64_t below, std::int64_t entries_max) = 0;

    // --- snapshots

    // Part `part` of a snapshot; the same again changes nothing. `Snapshot::parts` is not needed.
    [[nodiscard]] virtual Outcome<Done> put_part(const Snapshot& snapshot, std::int64_t part,
                                                 domain::ByteView bytes) = 0;
    // The snapshot counts from now on. Absent: a part is missing, or the journal has no such entry.
    [[nodiscard]] virtual Outcome<Done, Absent> put_head(const Snapshot& snapshot) = 0;
    // Those that count, the newest first.
    [[nodiscard]] virtual Read<std::vector<Snapshot>> read_heads() = 0;
    [[nodiscard]] virtual Read<std::optional<domain::Bytes>> read_part(const Snapshot& snapshot,
                                                                       std::int64_t part) = 0;
    // Those that do not count: `parts` is how many are there, without a hash.
    [[nodiscard]] virtual Read<std::vector<Snapshot>> read_unfinished() = 0;
    // The two newest stay, and what is newer than the newest and not complete. At most `parts_max`
    // parts go; 0 have gone when all is done.
    [[nodiscard]] virtual Outcome<Dropped> drop_old_snapshots(std::int64_t parts_max) = 0;
    // The same of this one, if it does not count.
    [[nodiscard]] virtual Outcome<Dropped> drop_unfinished(const Snapshot& snapshot,
                                                           std::int64_t parts_max) = 0;

    // --- nodes

    // New, or anew after a start.
    [[nodiscard]] virtual Outcome<Done> register_node(const Node& node) = 0;
    // Absent: somebody has it forgotten.
    [[nodiscard]] virtual Outcome<Done, Absent> progress(std::string_view name, std::int64_t seq,
                                                         domain::Timestamp seen) = 0;
    // By name.
    [[nodiscard]] virtual Read<std::vector<Node>> nodes() = 0;
    [[nodiscard]] virtual Outcome<Done, Absent> forget(std::string_view name) = 0;
};

}  // namespace cluster
