#include "commands/cluster_init.hpp"

#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "cluster/snapshots.hpp"
#include "commands/book_upkeep.hpp"
#include "commands/chain_identities.hpp"
#include "commands/cluster_book.hpp"
#include "commands/directory_owner.hpp"
#include "platform/secure_random.hpp"
#include "store/journal_position.hpp"
#include "store/owner_lock.hpp"
#include "store/scrubbed_file.hpp"
#include "store/snapshot.hpp"
#include "store/store.hpp"

namespace commands {

namespace {

const std::string run_again = "; run the same once more, it goes on from here";

std::filesystem::path directory_of(const store::Options& file) {
    std::error_code unknown;
    auto path = std::filesystem::weakly_canonical(file.directory, unknown);
    return unknown ? file.directory : path;
}

bool is_there(const store::Options& file) {
    std::error_code unknown;
    return std::filesystem::exists(store::database_path(file), unknown);
}

std::string plain_again(const BookBeginning& beginning) {
    return "posthouse cluster leave --force makes " +
           store::database_path(beginning.file).string() +
           " the database of a single machine again";
}

// Somebody began it.
[[noreturn]] void refuse_second_beginning(const BookBeginning& beginning) {
    const auto owner = found_in(beginning.database.read_owner());
    const bool was_owned = owner && owner->epoch != 0;
    if (!was_owned && found_in(beginning.database.read_heads()).empty()) {
        throw std::runtime_error(
            "the book " + beginning.book +
            " was begun on another machine, which was cut off before others could join: run this "
            "there once more; if that machine is lost, nothing is in the book: choose another "
            "cluster.name");
    }
    throw std::runtime_error(
        "the book " + beginning.book +
        " is there already, and is begun once only; to make this machine a node of it, give it the "
        "key file of the others and an empty data directory, and start posthouse serve; to begin "
        "another one, choose another cluster.name on all nodes");
}

// The file says that it has entries of the book, or the book is another one.
[[noreturn]] void refuse_member(const BookBeginning& beginning,
                                const store::JournalPosition& position, bool has_book) {
    const std::string file = store::database_path(beginning.file).string();
    const std::string number = std::to_string(position.seq);
    if (position.book != beginning.book) {
        throw std::runtime_error(file + " belongs to the book " + position.book + ", not to " +
                                 beginning.book + "; " + plain_again(beginning));
    }
    if (!has_book) {
        throw std::runtime_error(
            file + " has entry " + number + " of the book " + position.book +
            ", which is not in the database; see that cluster.database is the right one, and has "
            "not gone back. If the book is lost, do this on the node whose file has the highest "
            "entry: " +
            plain_again(beginning) + ", and posthouse cluster init --from begins a new one");
    }
    throw std::runtime_error("the book " + beginning.book + " is there already, and " + file +
                             " has entry " + number + " of it: start posthouse serve");
}

// Nothing: no such book, or its first entry was trimmed.
std::optional<domain::Bytes32> genesis_in(cluster::Database& database) {
    const auto entry = found_in(database.read(0));
    if (!entry) return std::nullopt;
    return entry->hash;
}

bool has_book(cluster::Database& database) {
    return found_in(database.read_owner()).has_value();
}

// Makes the file where it is missing, of the newest schema, and writes down whose chains' it is, so
// that what never may be in a book is refused before it begins.
void prepare_file(const BookBeginning& beginning) {
    store::Store store(beginning.file);
    if (!beginning.takes_used_file && store.last_sequence() > 0) {
        const std::string directory = directory_of(beginning.file).string();
        throw std::runtime_error(directory +
                                 " holds requests already; to begin the book with them, say so: "
                                 "posthouse cluster init --from " +
                                 directory + "; to begin with nothing, name another --data-dir");
    }
    for (const engine::ChainIdentity& identity : beginning.identities) {
        engine::claim(store, identity);
    }
    store.truncate_wal();
}

store::JournalPosition join(const BookBeginning& beginning) {
    if (has_book(beginning.database)) refuse_second_beginning(beginning);
    prepare_file(beginning);
    store::JournalPosition position{beginning.book, 0, 0, 0, {}};
    beginning.random.fill(position.hash);
    // On the disk before the database knows of it, whatever is configured.
    store::Options file = beginning.file;
    file.synchronous = store::Synchronous::full;
    store::join_book(file, position);
    return position;
}

// Of this call or of one that was cut off.
store::JournalPosition position_at_beginning(const BookBeginning& beginning) {
    if (!is_there(beginning.file)) return join(beginning);
    const auto stored = store::stored_position(beginning.file);
    if (!stored) return join(beginning);
    const store::JournalPosition& position = stored->position;
    if (position.book != beginning.book || position.seq != 0) {
        refuse_member(beginning, position, has_book(beginning.database));
    }
    return position;
}

// The one this file begins.
void make_book(const BookBeginning& beginning, const domain::Bytes32& genesis) {
    const auto made = beginning.database.initialise(genesis);
    if (const auto* unavailable = std::get_if<cluster::Unavailable>(&made)) {
        throw NoAnswerOfDatabase(unavailable->reason + run_again);
    }
    if (std::holds_alternative<cluster::Done>(made)) return;
    const auto found = genesis_in(beginning.database);
    if (found == genesis) return;
    const bool was_trimmed = !found && std::holds_alternative<cluster::Exists>(made);
    if (was_trimmed) refuse_second_beginning(beginning);
    if (const auto* unknown = std::get_if<cluster::Unknown>(&made)) {
        throw NoAnswerOfDatabase(unknown->reason + "; the book may have been made" + run_again);
    }
    throw std::runtime_error("the book " + beginning.book +
                             " is there already, and did not begin with " +
                             store::database_path(beginning.file).string() +
                             ", which was made ready for it; " + plain_again(beginning));
}

cluster::Snapshot put_first_snapshot(const BookBeginning& beginning,
                                     const ports::Progress& progress) {
    const std::filesystem::path directory = directory_of(beginning.file);
    // Nobody may write to the file while it is read as that of its position.
    const store::OwnerLock lock(directory);
    const auto stored = store::stored_position(beginning.file);
    if (!stored) throw std::runtime_error(directory.string() + " was taken out of the book");
    const store::ScrubbedFile file(directory / first_snapshot);
    std::uint64_t looks = 0;
    store::take_snapshot(beginning.file, file.path(), [&] { progress({"copying", ++looks}); });
    const std::uint64_t parts =
        std::filesystem::file_size(file.path()) / cluster::snapshot_part_bytes + 1;
    std::uint64_t part = 0;
    const auto look = [&](domain::Milliseconds pause) {
        if (pause.count() > 0) return beginning.pause(pause);
        progress({"snapshot", part++, parts});
    };
    auto put = cluster::put_snapshot(beginning.database, beginning.keys, beginning.random,
                                     stored->position, file.path(), look);
    if (const auto* failed = std::get_if<cluster::SnapshotFailed>(&put)) {
        throw NoAnswerOfDatabase("the snapshot is not whole: " + failed->reason + run_again);
    }
    return std::get<cluster::Snapshot>(put);
}

void require_same_directory(const std::filesystem::path& from, const store::Options& file) {
    store::Options named = file;
    named.directory = from;
    if (directory_of(named) != directory_of(file)) {
        throw std::runtime_error(
            "--from " + from.string() + " is not the data directory that is configured, " +
            file.directory.string() +
            "; a node keeps the file it begins with where it is: name it "
            "in storage.data_dir or with --data-dir, or move it there while nothing uses it");
    }
    if (is_there(file)) return;
    throw std::runtime_error("--from " + from.string() + ": there is no " +
                             store::database_path(file).string());
}

}  // namespace

cluster::Snapshot begin_book(const BookBeginning& beginning, const ports::Progress& progress) {
    make_book(beginning, position_at_beginning(beginning).hash);
    const auto snapshots = found_in(beginning.database.read_heads());
    if (!snapshots.empty()) return snapshots.front();
    return put_first_snapshot(beginning, progress);
}

int cluster_init(const config::Settings& settings, const std::optional<std::filesystem::path>& from,
                 const ports::Progress& progress, std::ostream& out) {
    const cluster::Options& options = require_cluster(settings);
    if (from) require_same_directory(*from, settings.store);
    std::error_code unknown;
    if (std::filesystem::exists(settings.store.directory, unknown)) {
        become_owner_of(settings.store.directory);
    }
    BookConnection connection(options);
    platform::SecureRandom random;
    const cluster::Snapshot snapshot =
        begin_book({connection.database(), *options.keys, random, options.book, settings.store,
                    chain_identities(settings), from.has_value(),
                    [](domain::Milliseconds time) { std::this_thread::sleep_for(time); }},
                   progress);
    out << "the book " << options.book << " begins with "
        << store::database_path(settings.store).string() << "\n"
        << "snapshot: after entry " << snapshot.seq << ", for the nodes that join\n";
    const unsigned standbys = found_in(connection.database().standbys());
    if (!cluster::is_durable(options.durability, standbys)) {
        out << "missing: a synchronous standby; until synchronous_standby_names of the server "
               "names one, or cluster.durability is storage, nodes take no requests\n";
    }
    out << "next: start posthouse serve here; on each other node the same table [cluster] with "
           "its own node and url, a copy of the key file, an empty data directory, and posthouse "
           "serve\n";
    return EXIT_SUCCESS;
}

}  // namespace commands
