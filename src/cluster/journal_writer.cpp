#include "cluster/journal_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "store/row_changes.hpp"

namespace cluster {

using domain::Milliseconds;
using store::JournalPosition;

namespace {

constexpr Milliseconds settle_pause{20};

}  // namespace

JournalWriter::JournalWriter(Parts parts, Options options, JournalPosition position)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      position_(std::move(position)),
      stable_(static_cast<std::int64_t>(position_.seq)) {}

JournalReadings JournalWriter::readings() const {
    const std::lock_guard lock{mutex_};
    return readings_;
}

JournalPosition JournalWriter::decide(const store::RowChanges& changes) {
    return decide(entry_of(EntryKind::changes, options_.schema, store::encode_changes(changes)));
}

JournalPosition JournalWriter::decide_migration(int schema) {
    return decide(entry_of(EntryKind::migration, static_cast<std::uint32_t>(schema), {}));
}

Entry JournalWriter::entry_of(EntryKind kind, std::uint32_t schema, domain::Bytes payload) const {
    const EntryTimes times = parts_.times();
    return {kind, schema, times.wall, times.steady, std::move(payload), {}};
}

JournalPosition JournalWriter::decide(const Entry& entry) {
    require_lease();
    const domain::Monotonic begun = parts_.clock.monotonic();
    std::vector<Sent> sent;
    std::optional<JournalPosition> decided;
    while (!decided) {
        require_lease();
        decided = append(entry, sent);
        if (!decided) decided = settle(sent, begun + options_.lease.length);
    }
    position_ = *decided;
    stable_ = static_cast<std::int64_t>(position_.seq);
    const std::lock_guard lock{mutex_};
    ++readings_.entries;
    readings_.last_latency = parts_.clock.monotonic() - begun;
    readings_.last_entry = entry.wall;
    if (sent.size() > 1 || sent.front().epoch != static_cast<std::int64_t>(position_.epoch)) {
        ++readings_.settled;
    }
    return position_;
}

domain::Bytes JournalWriter::seal(const Entry& entry, std::int64_t epoch) const {
    return seal_entry(parts_.keys,
                      {position_.book, position_.shard,
                       static_cast<std::int64_t>(position_.seq) + 1, epoch, position_.hash},
                      entry, parts_.random);
}

// Nothing: the outcome is to be read.
std::optional<JournalPosition> JournalWriter::append(const Entry& entry, std::vector<Sent>& sent) {
    const std::int64_t epoch = parts_.lease.epoch();
    const auto seq = static_cast<std::int64_t>(position_.seq) + 1;
    const domain::Bytes bytes = seal(entry, epoch);
    const EntryPlace place{position_.book, position_.shard, seq, epoch, position_.hash};
    sent.push_back({epoch, hash_of(place, bytes)});
    const auto outcome =
        parts_.database.append({seq, epoch, position_.hash, sent.back().hash, stable_, bytes});
    {
        const std::lock_guard lock{mutex_};
        readings_.bytes += bytes.size();
    }
    if (const auto* appended = std::get_if<Appended>(&outcome)) {
        if (believes(appended->standbys)) return position_of(sent.back());
        return std::nullopt;
    }
    if (std::holds_alternative<Fenced>(outcome)) {
        lose("the database takes no entry of epoch " + std::to_string(epoch) + " any more");
    }
    if (const auto* unavailable = std::get_if<Unavailable>(&outcome)) {
        sent.pop_back();
        if (sent.empty()) throw store::NotDecided("the journal: " + unavailable->reason);
        // An earlier form of it may be there.
    }
    return std::nullopt;
}

// Nothing: it is not there, and never will be in a form that was sent so far.
std::optional<JournalPosition> JournalWriter::settle(const std::vector<Sent>& sent,
                                                     domain::Monotonic until) {
    while (true) {
        require_lease();
        // Each raise is a renewal too: somebody waits for the end of this.
        if (parts_.clock.monotonic() >= until) lose("the database did not settle an entry in time");
        if (!raise_epoch()) {
            parts_.pause(settle_pause);
            continue;
        }
        const auto read = parts_.database.read(static_cast<std::int64_t>(position_.seq) + 1);
        const auto* stored = std::get_if<std::optional<StoredEntry>>(&read);
        if (stored == nullptr) {
            parts_.pause(settle_pause);
            continue;
        }
        if (!*stored) return std::nullopt;
        const auto form = std::ranges::find(sent, (*stored)->hash, &Sent::hash);
        // Nobody else can have written it in our epochs.
        if (form == sent.end()) lose("the journal has an entry in our epoch that is not ours");
        return position_of(*form);
    }
}

// True: it was acknowledged on as many disks as wanted, and with it all that was there before.
bool JournalWriter::raise_epoch() {
    const auto read = parts_.database.read_owner();
    const auto* owner = std::get_if<std::optional<Owner>>(&read);
    if (owner == nullptr) return false;
    if (const auto why = why_lost(options_.self, *owner)) lose(*why);
    const domain::Monotonic sent = parts_.clock.monotonic();
    const auto outcome =
        parts_.database.take({(*owner)->epoch, (*owner)->instance, std::nullopt},
                             {options_.self.node, options_.self.instance, options_.self.url});
    const auto* taken = std::get_if<Taken>(&outcome);
    if (taken == nullptr) return false;
    if (!parts_.lease.raised(taken->epoch, sent)) require_lease();
    return believes(taken->standbys);
}

bool JournalWriter::believes(unsigned standbys) {
    const bool durable = is_durable(options_.durability, standbys);
    const std::lock_guard lock{mutex_};
    if (durable == !readings_.one_disk.has_value()) return durable;
    if (durable) {
        readings_.one_disk.reset();
        log_durable_again(parts_.logger);
        return true;
    }
    readings_.one_disk = one_disk;
    log_one_disk(parts_.logger);
    return false;
}

JournalPosition JournalWriter::position_of(const Sent& sent) const {
    return {position_.book, position_.shard, position_.seq + 1,
            static_cast<std::uint64_t>(sent.epoch), sent.hash};
}

void JournalWriter::require_lease() const {
    if (parts_.lease.is_held()) return;
    throw store::OwnershipLost(
        parts_.lease.ended().value_or("no renewal was acknowledged in time"));
}

void JournalWriter::lose(const std::string& reason) {
    parts_.lease.end(reason);
    throw store::OwnershipLost(reason);
}

void log_one_disk(ports::Logger& logger) {
    logger.write(ports::LogLevel::error,
                 "journal_on_one_disk alert=true action=\"nothing is accepted or sent\" "
                 "hint=\"the database has no synchronous standby: bring it back, or set "
                 "durability = \\\"storage\\\" if the database replicates below\"");
}

void log_durable_again(ports::Logger& logger) {
    logger.write(ports::LogLevel::info, "journal_durable_again");
}

}  // namespace cluster
