#include "cluster/replica.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "base/sanitize.hpp"
#include "cluster/position.hpp"

namespace cluster {

using domain::Milliseconds;

std::string_view to_string(Obstacle obstacle) {
    switch (obstacle) {
        case Obstacle::none:
            return "none";
        case Obstacle::needs_snapshot:
            return "needs_snapshot";
        case Obstacle::went_back:
            return "database_went_back";
        case Obstacle::unreadable:
            return "entry_unreadable";
        case Obstacle::no_book:
            return "no_book";
        case Obstacle::not_taken:
            return "book_not_taken";
    }
    return "unknown";
}

Replica::Replica(Parts parts, Options options)
    : parts_(parts), options_(std::move(options)), watch_(options_.lease) {
    if (const auto& diverged = parts_.file.diverged()) {
        stop_at(Obstacle::needs_snapshot, "the file has diverged: " + *diverged);
    }
}

std::int64_t Replica::seq() const {
    return static_cast<std::int64_t>(parts_.file.position().seq);
}

std::int64_t Replica::behind() const {
    return owner_ ? std::max<std::int64_t>(owner_->stable - seq(), 0) : 0;
}

std::optional<Seen> Replica::may_take() const {
    if (obstacle_ != Obstacle::none || behind() > 0) return std::nullopt;
    return watch_.expired();
}

Milliseconds Replica::step() {
    const Obstacle before = obstacle_;
    if (before != Obstacle::none && !may_look_again()) return options_.lease.watch_pause();
    if (!look()) {
        // Nobody has said that it is gone.
        if (obstacle_ == Obstacle::none) obstacle_ = before;
        return options_.lease.watch_pause();
    }
    const std::optional<bool> has_more = apply_up_to(owner_->stable);
    if (before != Obstacle::none && obstacle_ == Obstacle::none) {
        reason_.clear();
        told_reason_.clear();
        parts_.logger.write(ports::LogLevel::info, "cluster_node_goes_on");
    }
    tell_progress();
    return has_more == true ? Milliseconds::zero() : options_.lease.watch_pause();
}

// Somebody may have mended the database. Only a snapshot helps a file that has no way to go on.
bool Replica::may_look_again() {
    constexpr Milliseconds pause{5'000};
    if (obstacle_ == Obstacle::needs_snapshot) return false;
    if (parts_.clock.monotonic() - stopped_at_ < pause) return false;
    obstacle_ = Obstacle::none;
    stopped_at_ = parts_.clock.monotonic();
    trusted_connection_.reset();
    return true;
}

bool Replica::look() {
    const auto read = parts_.database.read_owner();
    const auto* owner = std::get_if<std::optional<Owner>>(&read);
    if (owner == nullptr) {
        problem_ = std::get<Unavailable>(read).reason;
        watch_.forget();
        return false;
    }
    problem_.clear();
    if (!*owner) {
        stop_at(Obstacle::no_book, "the database does not know the book");
        return false;
    }
    owner_ = **owner;
    ahead_ = parts_.clock.wall() - owner_->server_clock;
    watch_.saw(*owner_, parts_.database.connections(), parts_.clock.monotonic());
    return stands_on_journal();
}

// Each connection may lead to another server: whether it has what the file has is asked before
// anything else of it is believed.
bool Replica::stands_on_journal() {
    const std::uint64_t connection = parts_.database.connections();
    if (trusted_connection_ == connection) return true;
    const auto read = standing_of(parts_.database, {seq(), parts_.file.position().hash});
    const auto* standing = std::get_if<Standing>(&read);
    if (standing == nullptr || parts_.database.connections() != connection) return false;
    const std::string number = std::to_string(seq());
    switch (*standing) {
        case Standing::continues:
            trusted_connection_ = connection;
            return true;
        case Standing::trimmed:
            stop_at(Obstacle::needs_snapshot, "the journal begins after entry " + number);
            return false;
        case Standing::behind:
            stop_at(Obstacle::went_back, "the database lacks entry " + number + " of this file");
            return false;
        case Standing::diverged:
            stop_at(Obstacle::went_back,
                    "the database has another entry " + number + " than this file");
            return false;
        case Standing::no_book:
            stop_at(Obstacle::no_book, "the database does not know the book");
            return false;
    }
    return false;
}

bool Replica::apply_all() {
    if (obstacle_ != Obstacle::none || !look()) return false;
    const auto read = parts_.database.extent();
    const auto* extent = std::get_if<std::optional<Extent>>(&read);
    if (extent == nullptr || !*extent) return false;
    const std::optional<bool> has_more = apply_up_to((*extent)->last);
    return has_more == false && seq() == (*extent)->last;
}

std::optional<bool> Replica::apply_up_to(std::int64_t to) {
    if (to <= seq()) return false;
    const auto read = parts_.database.read_range({seq() + 1, to});
    const auto* entries = std::get_if<std::vector<StoredEntry>>(&read);
    if (entries == nullptr) return std::nullopt;
    if (entries->empty() || entries->front().seq != seq() + 1) {
        stop_at(Obstacle::needs_snapshot,
                "the journal has no entry " + std::to_string(seq() + 1) + " any more");
        return std::nullopt;
    }
    for (std::size_t done = 0; done < entries->size();) {
        const auto applied = apply_next(std::span(*entries).subspan(done));
        if (!applied) return std::nullopt;
        done += *applied;
    }
    return seq() < to;
}

// Nothing: this program can apply it to this file.
std::optional<std::string> Replica::why_not(const Entry& entry) const {
    if (entry.schema > options_.schema) {
        return "needs schema " + std::to_string(entry.schema) + ", this program knows up to " +
               std::to_string(options_.schema) + ": run the version that the owner runs";
    }
    if (entry.kind == EntryKind::migration) return std::nullopt;
    const auto schema = static_cast<std::uint32_t>(parts_.file.schema());
    if (entry.kind == EntryKind::changes && entry.schema == schema) return std::nullopt;
    return "is of schema " + std::to_string(entry.schema) + ", this file has " +
           std::to_string(schema);
}

std::variant<Entry, Unreadable> Replica::open(const StoredEntry& stored) const {
    const store::JournalPosition& file = parts_.file.position();
    const EntryPlace place{file.book, file.shard, stored.seq, stored.epoch, stored.previous};
    const std::string number = std::to_string(stored.seq);
    if (hash_of(place, stored.bytes) != stored.hash) {
        return Unreadable{"entry " + number + " is damaged in the database"};
    }
    auto opened = open_entry(parts_.keys, place, stored.bytes);
    if (const auto* unreadable = std::get_if<Unreadable>(&opened)) {
        return Unreadable{"entry " + number + ": " + unreadable->reason};
    }
    if (const auto why = why_not(std::get<Entry>(opened))) {
        return Unreadable{"entry " + number + " " + *why};
    }
    return opened;
}

std::optional<std::size_t> Replica::apply_next(std::span<const StoredEntry> stored) {
    const store::JournalPosition file = parts_.file.position();
    std::vector<store::Entry> changes;
    std::vector<Entry> times;
    for (const StoredEntry& each : stored) {
        auto opened = open(each);
        if (const auto* unreadable = std::get_if<Unreadable>(&opened)) {
            if (apply(changes, times)) stop_at(Obstacle::unreadable, unreadable->reason);
            return std::nullopt;
        }
        auto& entry = std::get<Entry>(opened);
        store::Entry next{{file.book, file.shard, static_cast<std::uint64_t>(each.seq),
                           static_cast<std::uint64_t>(each.epoch), each.hash},
                          each.previous,
                          std::exchange(entry.payload, {})};
        if (entry.kind == EntryKind::migration) {
            if (!changes.empty()) break;
            if (!migrate(next, std::move(entry))) return std::nullopt;
            return 1;
        }
        changes.push_back(std::move(next));
        times.push_back(std::move(entry));
    }
    if (!apply(changes, times)) return std::nullopt;
    return changes.size();
}

bool Replica::apply(const std::vector<store::Entry>& changes, const std::vector<Entry>& times) {
    const std::int64_t before = seq();
    const bool fits = change_file([&] { parts_.file.apply(changes); });
    if (seq() > before) last_ = times[static_cast<std::size_t>(seq() - before - 1)];
    return fits;
}

bool Replica::migrate(const store::Entry& next, Entry entry) {
    if (!change_file([&] { parts_.file.migrate(next, static_cast<int>(entry.schema)); })) {
        return false;
    }
    last_ = std::move(entry);
    return true;
}

bool Replica::change_file(const std::function<void()>& change) {
    try {
        change();
        return true;
    } catch (const store::EntryRefused& error) {
        stop_at(Obstacle::unreadable, error.what());
    } catch (const store::Diverged& error) {
        stop_at(Obstacle::needs_snapshot, error.what());
    }
    return false;
}

// What is not on the disk yet is not told: trimming may rely on it. Also told when nothing is new,
// as a sign of life.
void Replica::tell_progress() {
    const auto& synced = parts_.file.synced_position();
    const std::int64_t on_disk = synced ? static_cast<std::int64_t>(synced->seq) : 0;
    const domain::Monotonic now = parts_.clock.monotonic();
    if (on_disk == told_ && now - told_at_ < options_.lease.length) return;
    const auto outcome = parts_.database.progress(options_.node, on_disk, parts_.clock.wall());
    is_known_ = !std::holds_alternative<Absent>(outcome);
    if (!std::holds_alternative<Done>(outcome)) return;
    told_ = on_disk;
    told_at_ = now;
}

void Replica::stop_at(Obstacle obstacle, const std::string& reason) {
    obstacle_ = obstacle;
    reason_ = reason;
    stopped_at_ = parts_.clock.monotonic();
    if (std::exchange(told_reason_, reason) == reason) return;
    parts_.logger.write(ports::LogLevel::error,
                        "cluster_node_stopped alert=true why=" + std::string(to_string(obstacle)) +
                            " reason=" + base::log_value(reason));
}

}  // namespace cluster
