#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop_token.hpp"
#include "cluster/database.hpp"
#include "cluster/postgres_options.hpp"

namespace cluster {

namespace postgres {
class Connection;
}

// A book in PostgreSQL, in the tables of the schema `posthouse`. Plain statements only, each a
// transaction of its own, so that what speaks its protocol can serve too.
//
// The session is asked for `synchronous_commit = on` and `read committed`. A wait for a lock ends
// after half of the time-out, as Unavailable. Sockets wait in real time; a peer that is gone is
// noticed after the time-out (TCP) or eight seconds (idle). Of several hosts, the one that takes
// writes is used, unless the connection string says otherwise. A pooler before the server is
// refused: it may change the session between two statements. One thread.
class PostgresDatabase : public Database {
public:
    // Connects at the first call. Throws std::invalid_argument, without showing it, when that is no
    // connection string that can be used, and says why. `stop` outlives it: from its request on
    // every call ends at once.
    PostgresDatabase(PostgresOptions options, const base::StopToken& stop);
    ~PostgresDatabase() override;

    // How many synchronous standbys would have a write of now on disk, as Taken::standbys tells.
    [[nodiscard]] Read<unsigned> standbys();

    [[nodiscard]] std::uint64_t connections() const override;
    [[nodiscard]] Outcome<Done, Exists> initialise(const domain::Bytes32& genesis) override;

    [[nodiscard]] Read<std::optional<Owner>> read_owner() override;
    [[nodiscard]] Outcome<Taken, Fenced> take(const Seen& seen,
                                              const Candidate& candidate) override;
    [[nodiscard]] Outcome<Renewed, Fenced> renew(std::int64_t epoch, std::int64_t stable) override;
    [[nodiscard]] Outcome<Done, Fenced> resign(std::int64_t epoch,
                                               const Instance& instance) override;

    [[nodiscard]] Outcome<Appended, Fenced> append(const NewEntry& entry) override;
    [[nodiscard]] Read<std::optional<StoredEntry>> read(std::int64_t seq) override;
    [[nodiscard]] Read<std::vector<StoredEntry>> read_range(const Range& range) override;
    [[nodiscard]] Read<std::optional<Extent>> extent() override;
    [[nodiscard]] Read<std::int64_t> journal_bytes() override;
    [[nodiscard]] Outcome<Trimmed> trim(std::int64_t below, std::int64_t entries_max) override;

    [[nodiscard]] Outcome<Done> put_part(const Snapshot& snapshot, std::int64_t part,
                                         domain::ByteView bytes) override;
    [[nodiscard]] Outcome<Done, Absent> put_head(const Snapshot& snapshot) override;
    [[nodiscard]] Read<std::vector<Snapshot>> read_heads() override;
    [[nodiscard]] Read<std::optional<domain::Bytes>> read_part(const Snapshot& snapshot,
                                                               std::int64_t part) override;
    [[nodiscard]] Read<std::vector<Snapshot>> read_unfinished() override;
    [[nodiscard]] Outcome<Dropped> drop_old_snapshots(std::int64_t parts_max) override;
    [[nodiscard]] Outcome<Dropped> drop_unfinished(const Snapshot& snapshot,
                                                   std::int64_t parts_max) override;

    [[nodiscard]] Outcome<Done> register_node(const Node& node) override;
    [[nodiscard]] Outcome<Done, Absent> progress(std::string_view name, std::int64_t seq,
                                                 domain::Timestamp seen) override;
    [[nodiscard]] Read<std::vector<Node>> nodes() override;
    [[nodiscard]] Outcome<Done, Absent> forget(std::string_view name) override;

private:
    const std::string book_;
    const std::int64_t shard_;
    std::unique_ptr<postgres::Connection> connection_;
};

}  // namespace cluster
