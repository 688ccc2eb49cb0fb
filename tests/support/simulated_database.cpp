#include "support/simulated_database.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

namespace support {

namespace {

using cluster::Absent;
using cluster::Appended;
using cluster::Candidate;
using cluster::Done;
using cluster::Dropped;
using cluster::Exists;
using cluster::Extent;
using cluster::Fenced;
using cluster::Instance;
using cluster::NewEntry;
using cluster::Outcome;
using cluster::Owner;
using cluster::Range;
using cluster::Read;
using cluster::Renewed;
using cluster::Seen;
using cluster::Snapshot;
using cluster::StoredEntry;
using cluster::Taken;
using cluster::Trimmed;
using cluster::Unavailable;
using cluster::Unknown;

constexpr domain::Milliseconds round_trip{1};

template <class Answer>
Answer no_connection() {
    return Unavailable{"no connection"};
}

// The second newest head; nothing while there are fewer.
std::optional<SimulatedBook::SnapshotKey> oldest_kept(const SimulatedBook& book) {
    if (book.heads.size() < 2) return std::nullopt;
    return std::next(book.heads.rbegin())->first;
}

}  // namespace

void SimulatedServer::return_standby() {
    has_standby_ = true;
    for (const Decided& decided : std::exchange(waiting_, {})) commit(decided);
    replicated_ = log_.size();
}

void SimulatedServer::stop_waiting_for_standbys() {
    is_synchronous_ = false;
    for (const Decided& decided : std::exchange(waiting_, {})) commit(decided);
}

void SimulatedServer::wait_for_standbys() {
    is_synchronous_ = true;
    replicated_ = log_.size();
}

void SimulatedServer::cancel_waits() {
    for (const Decided& decided : std::exchange(waiting_, {})) commit(decided);
}

void SimulatedServer::crash() {
    cancel_waits();
    late_.clear();
    ++generation_;
}

void SimulatedServer::promote() {
    promote_older(0);
}

void SimulatedServer::promote_older(std::size_t writes) {
    waiting_.clear();
    late_.clear();
    ++generation_;
    rebuild(replicated_ - std::min(writes, replicated_));
    has_standby_ = true;
}

void SimulatedServer::rebuild(std::size_t writes) {
    std::vector<Decided> kept = std::exchange(log_, {});
    kept.resize(std::min(writes, kept.size()));
    books_.clear();
    for (const Decided& decided : kept) commit(decided);
    replicated_ = log_.size();
}

void SimulatedServer::deliver_late() {
    std::vector<Write> arriving = std::exchange(late_, {});
    while (!arriving.empty()) {
        const auto next =
            arriving.begin() + static_cast<std::ptrdiff_t>(random_.below(arriving.size()));
        Write one = std::move(*next);
        arriving.erase(next);
        if (is_locked(one)) {
            late_.push_back(std::move(one));
            continue;
        }
        const auto effect = one.decide(book(one.key.first, one.key.second));
        if (!effect) continue;
        if (is_synchronous_ && !has_standby_) {
            waiting_.push_back({one.key, one.locks, *effect});
            continue;
        }
        commit({one.key, one.locks, *effect});
        if (is_synchronous_) replicated_ = log_.size();
    }
}

const SimulatedBook* SimulatedServer::book(const std::string& name, std::int64_t shard) const {
    const auto found = books_.find({name, shard});
    return found == books_.end() ? nullptr : &found->second;
}

SimulatedServer::End SimulatedServer::write(Write write, domain::Milliseconds timeout) {
    clock_.advance(round_trip);
    if (random_.chance(faults_.unreachable)) return End::unavailable;
    const bool is_late = random_.chance(faults_.late);
    if (is_late || random_.chance(faults_.lost)) {
        if (is_late) late_.push_back(std::move(write));
        clock_.advance(timeout);
        return End::unknown;
    }
    if (is_locked(write)) {
        clock_.advance(timeout / 2);
        return End::unavailable;
    }
    const auto effect = write.decide(book(write.key.first, write.key.second));
    if (!effect) return End::declined;
    if (is_synchronous_ && !has_standby_) {
        waiting_.push_back({write.key, write.locks, *effect});
        clock_.advance(timeout);
        return End::unknown;
    }
    commit({write.key, write.locks, *effect});
    if (random_.chance(faults_.cancelled)) return End::unknown;
    if (is_synchronous_) replicated_ = log_.size();
    if (!random_.chance(faults_.unanswered)) return End::done;
    clock_.advance(timeout);
    return End::unknown;
}

bool SimulatedServer::is_reached() {
    clock_.advance(round_trip);
    return !random_.chance(faults_.unreachable) && !random_.chance(faults_.lost);
}

bool SimulatedServer::is_locked(const Write& write) const {
    return std::ranges::any_of(waiting_, [&write](const Decided& holder) {
        if (holder.key != write.key) return false;
        return std::ranges::any_of(holder.locks, [&write](const Lock& held) {
            return std::ranges::any_of(write.locks, [&held](const Lock& wanted) {
                return held.row == wanted.row && (held.is_exclusive || wanted.is_exclusive);
            });
        });
    });
}

void SimulatedServer::commit(const Decided& decided) {
    decided.effect(books_[decided.key]);
    log_.push_back(decided);
}

void SimulatedDatabase::connect() {
    if (is_open_ && generation_ == server_.generation_) return;
    is_open_ = true;
    generation_ = server_.generation_;
    ++connections_;
}

SimulatedServer::End SimulatedDatabase::write(std::vector<SimulatedServer::Lock> locks,
                                              Decide decide) {
    connect();
    const End end = server_.write({key_, std::move(locks), std::move(decide)}, timeout_);
    if (end == End::unknown) is_open_ = false;
    return end;
}

std::pair<const SimulatedBook*, bool> SimulatedDatabase::look() {
    connect();
    if (!server_.is_reached()) return {nullptr, false};
    return {server_.book(key_.first, key_.second), true};
}

namespace {

template <class Answer, class Declined, class End, class OfDone>
Answer outcome_of(End end, Declined declined, const OfDone& of_done) {
    switch (end) {
        case End::done:
            return of_done();
        case End::declined:
            return declined;
        case End::unavailable:
            return no_connection<Answer>();
        case End::unknown:
            break;
    }
    return Unknown{"no answer"};
}

}  // namespace

Outcome<Done, Exists> SimulatedDatabase::initialise(const domain::Bytes32& genesis) {
    const End end = write({{"book"}}, [genesis](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book == nullptr) {
            effect = [genesis](SimulatedBook& made) {
                made.journal[0] = {.previous = genesis, .hash = genesis};
            };
        }
        return effect;
    });
    return outcome_of<Outcome<Done, Exists>>(end, Exists{}, [] { return Done{}; });
}

Read<std::optional<Owner>> SimulatedDatabase::read_owner() {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::optional<Owner>>>();
    if (book == nullptr) return std::nullopt;
    Owner owner = book->owner;
    owner.server_clock = server_.clock_.wall();
    return owner;
}

Outcome<Taken, Fenced> SimulatedDatabase::take(const Seen& seen, const Candidate& candidate) {
    const End end = write({{"lease"}, {"owner"}}, [seen, candidate](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book != nullptr && book->owner.epoch == seen.epoch &&
            book->owner.instance == seen.instance &&
            seen.beat.value_or(book->owner.beat) == book->owner.beat) {
            effect = [candidate](SimulatedBook& taken) {
                Owner& owner = taken.owner;
                ++owner.epoch;
                ++owner.beat;
                owner.node = candidate.node;
                owner.instance = candidate.instance;
                owner.url = candidate.url;
            };
        }
        return effect;
    });
    return outcome_of<Outcome<Taken, Fenced>>(
        end, Fenced{}, [&] { return Taken{.epoch = seen.epoch + 1, .standbys = standbys()}; });
}

Outcome<Renewed, Fenced> SimulatedDatabase::renew(std::int64_t epoch, std::int64_t stable) {
    const auto beat = std::make_shared<std::int64_t>();
    const End end = write({{"lease"}}, [epoch, stable, beat](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book != nullptr && book->owner.epoch == epoch) {
            *beat = book->owner.beat + 1;
            effect = [stable](SimulatedBook& renewed) {
                ++renewed.owner.beat;
                renewed.owner.stable = std::max(renewed.owner.stable, stable);
            };
        }
        return effect;
    });
    return outcome_of<Outcome<Renewed, Fenced>>(end, Fenced{}, [&] { return Renewed{*beat}; });
}

Outcome<Done, Fenced> SimulatedDatabase::resign(std::int64_t epoch, const Instance& instance) {
    const End end = write({{"owner"}}, [epoch, instance](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book != nullptr && book->owner.epoch == epoch && book->owner.instance == instance) {
            effect = [](SimulatedBook& free) { free.owner.instance = {}; };
        }
        return effect;
    });
    return outcome_of<Outcome<Done, Fenced>>(end, Fenced{}, [] { return Done{}; });
}

Outcome<Appended, Fenced> SimulatedDatabase::append(const NewEntry& entry) {
    const StoredEntry stored{.seq = entry.seq,
                             .epoch = entry.epoch,
                             .previous = entry.previous,
                             .hash = entry.hash,
                             .stable = entry.stable,
                             .bytes = {entry.bytes.begin(), entry.bytes.end()}};
    const bool is_fencing = server_.is_fencing_;
    const End end =
        write({{.row = "owner", .is_exclusive = false}, {"journal " + std::to_string(entry.seq)}},
              [stored, is_fencing](const SimulatedBook* book) {
                  std::optional<Effect> effect;
                  if (book == nullptr) return effect;
                  const auto before = book->journal.find(stored.seq - 1);
                  const bool fits =
                      book->owner.epoch == stored.epoch && before != book->journal.end() &&
                      before->second.hash == stored.previous && !book->journal.contains(stored.seq);
                  if (fits || !is_fencing) {
                      effect = [stored](SimulatedBook& appended) {
                          appended.journal.insert_or_assign(stored.seq, stored);
                      };
                  }
                  return effect;
              });
    return outcome_of<Outcome<Appended, Fenced>>(end, Fenced{},
                                                 [&] { return Appended{.standbys = standbys()}; });
}

Read<std::optional<StoredEntry>> SimulatedDatabase::read(std::int64_t seq) {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::optional<StoredEntry>>>();
    if (book == nullptr || !book->journal.contains(seq)) return std::nullopt;
    return book->journal.at(seq);
}

Read<std::vector<StoredEntry>> SimulatedDatabase::read_range(const Range& range) {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::vector<StoredEntry>>>();
    std::vector<StoredEntry> entries;
    if (book == nullptr) return entries;
    std::size_t bytes = 0;
    for (auto at = book->journal.lower_bound(range.from);
         at != book->journal.end() && at->first <= range.to; ++at) {
        bytes += at->second.bytes.size();
        if (bytes > range.bytes_max && at->first != range.from) break;
        entries.push_back(at->second);
    }
    return entries;
}

Read<std::optional<Extent>> SimulatedDatabase::extent() {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::optional<Extent>>>();
    if (book == nullptr) return std::nullopt;
    const StoredEntry& last = book->journal.rbegin()->second;
    return Extent{.first = book->journal.begin()->first,
                  .last = last.seq,
                  .epoch = last.epoch,
                  .hash = last.hash};
}

Read<std::int64_t> SimulatedDatabase::journal_bytes() {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::int64_t>>();
    std::int64_t bytes = 0;
    if (book == nullptr) return bytes;
    for (const auto& [seq, entry] : book->journal) {
        bytes += static_cast<std::int64_t>(entry.bytes.size());
    }
    return bytes;
}

Outcome<Trimmed> SimulatedDatabase::trim(std::int64_t below, std::int64_t entries_max) {
    const auto count = std::make_shared<std::int64_t>();
    const End end = write({{"trim"}}, [below, entries_max, count](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book == nullptr) return effect;
        const std::int64_t upto = std::min(
            {below, book->journal.begin()->first + entries_max, book->journal.rbegin()->first});
        const auto kept = book->journal.lower_bound(upto);
        *count = std::distance(book->journal.begin(), kept);
        effect = [upto](SimulatedBook& trimmed) {
            trimmed.journal.erase(trimmed.journal.begin(), trimmed.journal.lower_bound(upto));
        };
        return effect;
    });
    return outcome_of<Outcome<Trimmed>>(end, Trimmed{}, [&] { return Trimmed{*count}; });
}

Outcome<Done> SimulatedDatabase::put_part(const Snapshot& snapshot, std::int64_t part,
                                          domain::ByteView bytes) {
    const SimulatedBook::SnapshotKey key{snapshot.seq, snapshot.id};
    const domain::Bytes copy(bytes.begin(), bytes.end());
    const End end = write({{"snapshot"}}, [key, part, copy](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book != nullptr) {
            effect = [key, part, copy](SimulatedBook& put) {
                put.parts.try_emplace({key, part}, copy);
            };
        }
        return effect;
    });
    return outcome_of<Outcome<Done>>(end, Done{}, [] { return Done{}; });
}

Outcome<Done, Absent> SimulatedDatabase::put_head(const Snapshot& snapshot) {
    const End end = write({{"snapshot"}}, [snapshot](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book == nullptr) return effect;
        const SimulatedBook::SnapshotKey key{snapshot.seq, snapshot.id};
        const auto entry = book->journal.find(snapshot.seq);
        const auto first = book->parts.lower_bound({key, 0});
        const auto behind = book->parts.lower_bound({key, snapshot.parts});
        if (entry != book->journal.end() && entry->second.hash == snapshot.hash &&
            std::distance(first, behind) == snapshot.parts) {
            effect = [key, snapshot](SimulatedBook& put) {
                put.heads.insert_or_assign(key, snapshot);
            };
        }
        return effect;
    });
    return outcome_of<Outcome<Done, Absent>>(end, Absent{}, [] { return Done{}; });
}

Read<std::vector<Snapshot>> SimulatedDatabase::read_heads() {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::vector<Snapshot>>>();
    std::vector<Snapshot> heads;
    if (book == nullptr) return heads;
    for (const auto& [key, head] : book->heads) heads.insert(heads.begin(), head);
    return heads;
}

Read<std::optional<domain::Bytes>> SimulatedDatabase::read_part(const Snapshot& snapshot,
                                                                std::int64_t part) {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::optional<domain::Bytes>>>();
    if (book == nullptr) return std::nullopt;
    const auto found = book->parts.find({{snapshot.seq, snapshot.id}, part});
    if (found == book->parts.end()) return std::nullopt;
    return found->second;
}

Read<std::vector<Snapshot>> SimulatedDatabase::read_unfinished() {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::vector<Snapshot>>>();
    std::vector<Snapshot> found;
    if (book == nullptr) return found;
    for (const auto& [place, bytes] : book->parts) {
        const auto& [seq, id] = place.first;
        if (book->heads.contains(place.first)) continue;
        if (found.empty() || found.back().id != id) found.push_back({.seq = seq, .id = id});
        ++found.back().parts;
    }
    return found;
}

Outcome<Dropped> SimulatedDatabase::drop_parts(IsMeant is_meant, std::int64_t parts_max) {
    const auto count = std::make_shared<std::int64_t>();
    const End end = write({{"snapshot"}}, [is_meant, parts_max, count](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book == nullptr) return effect;
        std::vector<decltype(book->parts)::key_type> gone;
        for (const auto& [place, bytes] : book->parts) {
            if (std::ssize(gone) >= parts_max) break;
            if (!book->heads.contains(place.first) && is_meant(*book, place.first)) {
                gone.push_back(place);
            }
        }
        *count = std::ssize(gone);
        effect = [gone](SimulatedBook& dropped) {
            for (const auto& place : gone) dropped.parts.erase(place);
        };
        return effect;
    });
    return outcome_of<Outcome<Dropped>>(end, Dropped{}, [&] { return Dropped{*count}; });
}

Outcome<Dropped> SimulatedDatabase::drop_old_snapshots(std::int64_t parts_max) {
    const End end = write({{"snapshot"}}, [](const SimulatedBook* book) {
        std::optional<Effect> effect;
        const auto oldest = book == nullptr ? std::nullopt : oldest_kept(*book);
        if (!oldest) return effect;
        effect = [key = *oldest](SimulatedBook& dropped) {
            dropped.heads.erase(dropped.heads.begin(), dropped.heads.lower_bound(key));
        };
        return effect;
    });
    if (end != End::done && end != End::declined) {
        return outcome_of<Outcome<Dropped>>(end, Dropped{}, [] { return Dropped{}; });
    }
    return drop_parts(
        [](const SimulatedBook& book, const SimulatedBook::SnapshotKey& key) {
            return !book.heads.empty() && key < book.heads.rbegin()->first;
        },
        parts_max);
}

Outcome<Dropped> SimulatedDatabase::drop_unfinished(const Snapshot& snapshot,
                                                    std::int64_t parts_max) {
    return drop_parts(
        [key = SimulatedBook::SnapshotKey{snapshot.seq, snapshot.id}](
            const SimulatedBook&, const SimulatedBook::SnapshotKey& one) { return one == key; },
        parts_max);
}

Outcome<Done> SimulatedDatabase::register_node(const cluster::Node& node) {
    const End end = write({{"node"}}, [node](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book != nullptr) {
            effect = [node](SimulatedBook& changed) {
                changed.nodes.insert_or_assign(node.name, node);
            };
        }
        return effect;
    });
    return outcome_of<Outcome<Done>>(end, Done{}, [] { return Done{}; });
}

Outcome<Done, Absent> SimulatedDatabase::progress(std::string_view name, std::int64_t seq,
                                                  domain::Timestamp seen) {
    const End end =
        write({{"node"}}, [node = std::string(name), seq, seen](const SimulatedBook* book) {
            std::optional<Effect> effect;
            if (book != nullptr && book->nodes.contains(node)) {
                effect = [node, seq, seen](SimulatedBook& changed) {
                    changed.nodes.at(node).seq = seq;
                    changed.nodes.at(node).seen = seen;
                };
            }
            return effect;
        });
    return outcome_of<Outcome<Done, Absent>>(end, Absent{}, [] { return Done{}; });
}

Read<std::vector<cluster::Node>> SimulatedDatabase::nodes() {
    const auto [book, reached] = look();
    if (!reached) return no_connection<Read<std::vector<cluster::Node>>>();
    std::vector<cluster::Node> nodes;
    if (book == nullptr) return nodes;
    for (const auto& [name, node] : book->nodes) nodes.push_back(node);
    return nodes;
}

Outcome<Done, Absent> SimulatedDatabase::forget(std::string_view name) {
    const End end = write({{"node"}}, [node = std::string(name)](const SimulatedBook* book) {
        std::optional<Effect> effect;
        if (book != nullptr && book->nodes.contains(node)) {
            effect = [node](SimulatedBook& changed) { changed.nodes.erase(node); };
        }
        return effect;
    });
    return outcome_of<Outcome<Done, Absent>>(end, Absent{}, [] { return Done{}; });
}

}  // namespace support
