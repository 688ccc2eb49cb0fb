#include "commands/book_upkeep.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "cluster/postgres.hpp"
#include "cluster/snapshots.hpp"
#include "store/journal_position.hpp"
#include "store/owner_lock.hpp"
#include "store/scrubbed_file.hpp"
#include "store/snapshot.hpp"

namespace commands {

namespace {

using domain::Milliseconds;

constexpr std::int64_t the_shard = 0;
constexpr Milliseconds upkeep_pause{30'000};
constexpr Milliseconds trim_pause{100};
// A part of a snapshot may take a slow server longer than an entry.
constexpr Milliseconds snapshot_timeout{10'000};

struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

const std::string snapshot_folder = "snapshot";  // on its way to the database
const std::string incoming_folder = "incoming";  // on its way from there

store::Options beside(const store::Options& file, const std::string& folder) {
    store::Options aside = file;
    aside.directory = file.directory / folder;
    return aside;
}

std::filesystem::path replaced(const store::Options& file) {
    return beside(file, incoming_folder).directory / "replaced.db";
}

// A place for one more database beside the file. What is there goes away.
class Aside {
public:
    Aside(const store::Options& file, const std::string& folder, std::function<void()> look)
        : options_(beside(file, folder)), database_(place_in(options_), std::move(look)) {}

    [[nodiscard]] const store::Options& options() const { return options_; }
    [[nodiscard]] const std::filesystem::path& database() const { return database_.path(); }

private:
    static std::filesystem::path place_in(const store::Options& options) {
        store::make_directory(options);
        return store::database_path(options);
    }

    const store::Options options_;
    const store::ScrubbedFile database_;
};

void warn(ports::Logger& logger, const std::string& event, const std::string& reason) {
    logger.write(ports::LogLevel::warning, event + " error=" + base::log_value(reason));
}

}  // namespace

std::unique_ptr<cluster::Database> connect_to_book(const cluster::Options& options,
                                                   const base::StopToken& stop,
                                                   Milliseconds timeout) {
    return std::make_unique<cluster::PostgresDatabase>(
        cluster::PostgresOptions{options.database, options.book, the_shard, timeout}, stop);
}

std::optional<NoSnapshot> take_book_snapshot(const BookParts& parts, const cluster::Look& look) {
    store::make_directory(parts.file);
    const store::OwnerLock lock(parts.file.directory);
    const auto between = [&look] { look({}); };
    const Aside aside(parts.file, incoming_folder, between);
    const auto database = connect_to_book(parts.options, parts.stop, snapshot_timeout);
    const auto owner = database->read_owner();
    if (const auto* unavailable = std::get_if<cluster::Unavailable>(&owner)) {
        return NoSnapshot{.reason = unavailable->reason};
    }
    if (!std::get<std::optional<cluster::Owner>>(owner)) {
        return NoSnapshot{cluster::Obstacle::no_book,
                          "there is no book " + parts.options.book +
                              " in the database: see cluster.name; posthouse cluster init begins "
                              "one"};
    }
    const auto got = cluster::get_snapshot(*database, *parts.options.keys,
                                           {parts.options.book, the_shard}, aside.database(), look);
    if (const auto* failed = std::get_if<cluster::SnapshotFailed>(&got)) {
        return NoSnapshot{
            failed->is_final ? cluster::Obstacle::unreadable : cluster::Obstacle::needs_snapshot,
            failed->reason};
    }
    replace_file(parts.file, aside.database(), between);
    parts.logger.write(
        ports::LogLevel::info,
        "snapshot_taken entry=" + std::to_string(std::get<cluster::Snapshot>(got).seq));
    return std::nullopt;
}

void replace_file(const store::Options& file, const std::filesystem::path& snapshot,
                  const std::function<void()>& look) {
    const std::filesystem::path old = store::database_path(file);
    const std::filesystem::path aside = replaced(file);
    // The log belongs to the old file, and must not be found beside the new one.
    for (const char* suffix : {"", "-wal"}) {
        store::scrub(aside.string() + suffix, look);
        if (!std::filesystem::exists(old.string() + suffix)) continue;
        std::filesystem::rename(old.string() + suffix, aside.string() + suffix);
    }
    std::filesystem::remove(old.string() + "-shm");
    std::filesystem::rename(snapshot, old);
}

void scrub_leftovers(const store::Options& file, const std::function<void()>& look) {
    for (const std::filesystem::path& copy :
         {store::database_path(beside(file, snapshot_folder)),
          store::database_path(beside(file, incoming_folder)), replaced(file),
          std::filesystem::path(replaced(file).string() + "-wal"),
          file.directory / first_snapshot}) {
        const store::ScrubbedFile scrubbed(copy, look);
    }
}

BookUpkeep::BookUpkeep(const BookParts& parts)
    : parts_(parts),
      database_(connect_to_book(parts.options, ends_, snapshot_timeout)),
      upkeep_(*database_, parts.clock, {parts.options.node, parts.options.snapshot_every_bytes}),
      thread_([this] { run(); }) {}

BookUpkeep::~BookUpkeep() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    ends_.request_stop();
    wakes_.notify_all();
}

bool BookUpkeep::sleep(Milliseconds time) {
    std::unique_lock lock{mutex_};
    return !wakes_.wait_for(lock, time, [this] { return stopping_; });
}

void BookUpkeep::look(Milliseconds pause) {
    if (!sleep(pause)) throw Interrupted();
}

void BookUpkeep::run() {
    try {
        scrub_leftovers(parts_.file, [this] { look({}); });
    } catch (const Interrupted&) {
        return;
    } catch (const store::StorageError& error) {
        warn(parts_.logger, "copy_not_wiped", error.what());
    }
    while (sleep(upkeep_pause)) {
        while (is_owner_ && upkeep_.trim() && sleep(trim_pause)) {
        }
        if (upkeep_.wants_snapshot(is_owner_)) put_snapshot();
    }
}

void BookUpkeep::put_snapshot() {
    const auto between = [this] { look({}); };
    try {
        const Aside aside(parts_.file, snapshot_folder, between);
        const std::uint64_t bytes = store::take_snapshot(parts_.file, aside.database(), between);
        const auto stored = store::stored_position(aside.options());
        if (!stored) return;
        const auto put =
            cluster::put_snapshot(*database_, *parts_.options.keys, parts_.random, stored->position,
                                  aside.database(), [this](Milliseconds pause) { look(pause); });
        if (const auto* failed = std::get_if<cluster::SnapshotFailed>(&put)) {
            warn(parts_.logger, "snapshot_not_put", failed->reason);
            return;
        }
        parts_.logger.write(ports::LogLevel::info,
                            "snapshot_put entry=" + std::to_string(stored->position.seq) +
                                " bytes=" + std::to_string(bytes));
    } catch (const Interrupted&) {
        return;
    } catch (const std::exception& error) {
        warn(parts_.logger, "snapshot_not_put", error.what());
    }
}

}  // namespace commands
