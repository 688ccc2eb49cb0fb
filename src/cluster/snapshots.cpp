#include "cluster/snapshots.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/entry.hpp"
#include "store/backup_file.hpp"
#include "store/errors.hpp"

namespace cluster {

namespace {

using domain::Milliseconds;

constexpr int tries_max = 5;
constexpr Milliseconds retry_pause{2'000};
constexpr std::int64_t parts_at_once = 64;

[[noreturn]] void fail_to(const std::string& verb, const std::filesystem::path& file) {
    throw store::StorageError(store::StorageErrorKind::io, "can not " + verb + " " + file.string());
}

template <class Answer>
std::optional<SnapshotFailed> failure_in(const Answer& answer) {
    return std::visit(
        []<class One>(const One& one) -> std::optional<SnapshotFailed> {
            if constexpr (std::is_same_v<One, Unavailable> || std::is_same_v<One, Unknown>) {
                return SnapshotFailed{one.reason};
            } else {
                return std::nullopt;
            }
        },
        answer);
}

// Asks until there is an answer, a few times: the same again changes nothing.
template <class Ask>
auto answer_to(const Ask& ask, const Look& look) {
    auto answer = ask();
    for (int tries = 1; tries < tries_max && failure_in(answer); ++tries) {
        look(retry_pause);
        answer = ask();
    }
    return answer;
}

std::int64_t parts_of(std::uint64_t bytes) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>((bytes + snapshot_part_bytes - 1) / snapshot_part_bytes));
}

PartPlace place_of(const BookPlace& book, const Snapshot& snapshot, std::int64_t part) {
    return {book.book,
            book.shard,
            snapshot.seq,
            snapshot.hash,
            snapshot.id,
            part,
            part + 1 == snapshot.parts};
}

std::optional<SnapshotFailed> write_parts(Database& database, const Keys& keys,
                                          const BookPlace& place, const Snapshot& snapshot,
                                          std::ofstream& out, const Look& look) {
    for (std::int64_t part = 0; part < snapshot.parts; ++part) {
        look({});
        const auto read = answer_to([&] { return database.read_part(snapshot, part); }, look);
        if (auto failed = failure_in(read)) return failed;
        const auto& sealed = std::get<std::optional<domain::Bytes>>(read);
        if (!sealed) return SnapshotFailed{"a newer snapshot has taken its place"};
        auto opened = open_part(keys, place_of(place, snapshot, part), *sealed);
        if (auto* unreadable = std::get_if<Unreadable>(&opened)) {
            return SnapshotFailed{std::move(unreadable->reason), true};
        }
        const auto& plain = std::get<domain::Bytes>(opened);
        out.write(reinterpret_cast<const char*>(plain.data()),
                  static_cast<std::streamsize>(plain.size()));
    }
    return std::nullopt;
}

// As far as the database answers to that; the rest goes with older snapshots.
void drop_own_parts(Database& database, const Snapshot& snapshot) {
    while (true) {
        const auto outcome = database.drop_unfinished(snapshot, parts_at_once);
        const auto* dropped = std::get_if<Dropped>(&outcome);
        if (dropped == nullptr || dropped->parts == 0) return;
    }
}

std::optional<SnapshotFailed> put_parts(Database& database, const Keys& keys, ports::Random& random,
                                        const BookPlace& book, const Snapshot& snapshot,
                                        const std::filesystem::path& file, std::uint64_t bytes,
                                        const Look& look) {
    std::ifstream in(file, std::ios::binary);
    if (!in) fail_to("read", file);
    domain::Bytes plain(snapshot_part_bytes);
    for (std::int64_t part = 0; part < snapshot.parts; ++part) {
        look({});
        const std::uint64_t done = static_cast<std::uint64_t>(part) * snapshot_part_bytes;
        const auto size = std::min<std::uint64_t>(bytes - done, snapshot_part_bytes);
        in.read(reinterpret_cast<char*>(plain.data()), static_cast<std::streamsize>(size));
        if (!in) fail_to("read", file);
        const auto sealed = seal_part(keys, place_of(book, snapshot, part),
                                      domain::ByteView(plain).first(size), random);
        const auto put = answer_to([&] { return database.put_part(snapshot, part, sealed); }, look);
        if (auto failed = failure_in(put)) return failed;
    }
    return std::nullopt;
}

}  // namespace

std::variant<Snapshot, SnapshotFailed> put_snapshot(Database& database, const Keys& keys,
                                                    ports::Random& random,
                                                    const store::JournalPosition& position,
                                                    const std::filesystem::path& file,
                                                    const Look& look) {
    std::error_code unreadable;
    const std::uint64_t bytes = std::filesystem::file_size(file, unreadable);
    if (unreadable) fail_to("read", file);
    Snapshot snapshot{static_cast<std::int64_t>(position.seq), {}, parts_of(bytes), position.hash};
    random.fill(snapshot.id);
    if (auto failed = put_parts(database, keys, random, {position.book, position.shard}, snapshot,
                                file, bytes, look)) {
        drop_own_parts(database, snapshot);
        return *failed;
    }
    const auto headed = answer_to([&] { return database.put_head(snapshot); }, look);
    // It may be there all the same, and then needs its parts.
    if (auto failed = failure_in(headed)) return *failed;
    if (std::holds_alternative<Absent>(headed)) {
        return SnapshotFailed{"the journal has moved on beyond it"};
    }
    return snapshot;
}

std::variant<Snapshot, SnapshotFailed> get_snapshot(Database& database, const Keys& keys,
                                                    const BookPlace& place,
                                                    const std::filesystem::path& file,
                                                    const Look& look) {
    const auto read = answer_to([&] { return database.read_heads(); }, look);
    if (auto failed = failure_in(read)) return *failed;
    const auto& heads = std::get<std::vector<Snapshot>>(read);
    if (heads.empty()) return SnapshotFailed{"the book has no snapshot yet"};

    store::BackupFile written(file, store::Leftover::wiped, store::FileOwner::root,
                              [&look] { look({}); });
    std::ofstream out(written.unfinished(), std::ios::binary | std::ios::trunc);
    if (auto failed = write_parts(database, keys, place, heads.front(), out, look)) return *failed;
    out.close();
    if (!out) fail_to("write", file);
    static_cast<void>(written.flush());
    written.keep();
    return heads.front();
}

}  // namespace cluster
