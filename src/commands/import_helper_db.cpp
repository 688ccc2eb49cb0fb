#include "commands/import_helper_db.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "commands/chain_identities.hpp"
#include "commands/helper_share.hpp"
#include "config/command_line.hpp"
#include "config/exit_status.hpp"
#include "domain/identity.hpp"
#include "engine/request_ids.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "platform/secure_random.hpp"
#include "store/helper_copy.hpp"
#include "store/helper_db.hpp"
#include "store/owner_lock.hpp"
#include "store/reader.hpp"
#include "store/store.hpp"

namespace commands {

namespace {

using domain::Status;

constexpr std::size_t rows_per_transaction = 500;
constexpr std::size_t printed_text_max = 80;

std::string number_text(const store::HelperRow::Number& number) {
    return number ? std::to_string(*number) : "?";
}

std::string name_of(const store::HelperRow& row) {
    return "round_id=" + platform::printable(row.round_id.substr(0, printed_text_max)) +
           " share_index=" + number_text(row.share_index) +
           " proposal_id=" + number_text(row.proposal_id) +
           " tree_position=" + number_text(row.tree_position);
}

std::string many(std::uint64_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// What was written down, or is about to be with the transaction that is open.
struct Counts {
    std::map<Status, std::uint64_t> imported;
    std::uint64_t here_already = 0;
    std::uint64_t conflicts = 0;
    std::uint64_t unreadable = 0;
    std::uint64_t without_end = 0;
};

class Import {
public:
    Import(store::Store& store, store::Reader& reader, const ports::Clock& clock,
           ports::Random& random, std::ostream& out)
        : store_(store),
          reader_(reader),
          now_(clock.wall()),
          ids_(random, store.last_sequence()),
          out_(out) {}

    void run(store::HelperDb& source, const ports::Progress& progress) {
        do {
            progress({"shares", seen_, 0});
        } while (take_some(source));
    }

    [[nodiscard]] const Counts& counts() const { return counts_; }
    [[nodiscard]] std::size_t rounds() const { return rounds_.size(); }

private:
    struct Round {
        std::int64_t id = 0;
        std::optional<domain::Timestamp> end;
        std::uint64_t added = 0;  // pending ones, in the transaction that is open
    };

    // One transaction; false when there was nothing left.
    bool take_some(store::HelperDb& source) {
        store::Store::Transaction transaction(store_);
        std::size_t seen = 0;
        while (seen < rows_per_transaction) {
            const std::optional<store::HelperRow> row = source.next();
            if (!row) break;
            ++seen;
            ++seen_;
            take(*row);
        }
        for (auto& [round_id, round] : rounds_) {
            if (round.added > 0) store_.add_to_round(round.id, round.added);
            round.added = 0;
        }
        transaction.commit();
        return seen == rows_per_transaction;
    }

    void take(const store::HelperRow& row) {
        const auto read = read_helper_share(row);
        if (const auto* const problem = std::get_if<std::string>(&read)) {
            ++counts_.unreadable;
            out_ << "skipped: " << name_of(row) << ": " << *problem << "\n";
            return;
        }
        const auto& share = std::get<HelperShare>(read);
        const domain::Identity identity = domain::identify(share.share);
        if (const auto duplicate = store_.find_duplicate(identity)) {
            if (duplicate->same_content || !share.has_content) {
                ++counts_.here_already;
            } else {
                ++counts_.conflicts;
                out_ << "conflict: " << name_of(row)
                     << ": another share with this key is here already and stays\n";
            }
            return;
        }
        insert(share, identity);
    }

    void insert(const HelperShare& share, const domain::Identity& identity) {
        Round& round = round_of(share);
        if (!round.end) ++counts_.without_end;
        if (share.status == Status::queued) {
            insert_pending(share, identity, round);
        } else {
            insert_ended(share, identity, round);
        }
        ++counts_.imported[share.status];
    }

    void insert_pending(const HelperShare& share, const domain::Identity& identity, Round& round) {
        store::Row row;
        row.id = ids_.next(now_);
        row.kind = domain::Kind::share;
        row.status = share.status;
        row.since = now_;
        row.round = round.id;
        row.schedule.lane = store::Lane::schedule;
        row.schedule.wake = now_;
        if (share.share.submit_at > 0) {
            const auto submit_at = static_cast<std::int64_t>(share.share.submit_at);
            row.schedule.wake = domain::Timestamp{std::chrono::seconds{submit_at}};
        }
        row.schedule.deadline = round.end;
        row.schedule.attempts = share.attempts;
        const domain::Bytes payload = domain::encode(share.share);
        store_.insert({row, identity, payload});
        ++round.added;
    }

    void insert_ended(const HelperShare& share, const domain::Identity& identity,
                      const Round& round) {
        store::EndedShare ended;
        ended.id = ids_.next(now_);
        ended.round = round.id;
        ended.since = now_;
        ended.attempts = share.attempts;
        ended.key = identity.key;
        if (share.has_content) ended.content = identity.content;
        if (share.status == Status::failure) {
            ended.failure = domain::Failure{
                share.reason, "The share failed with the helper it was taken over from", {}};
        }
        store_.insert_ended(ended);
    }

    Round& round_of(const HelperShare& share) {
        const auto [found, is_new] = rounds_.try_emplace(share.share.round_id);
        Round& round = found->second;
        if (is_new) {
            // Of a round without an end no share is missed or purged (share-helper 3.3).
            const auto known = reader_.vote_end(share.share.round_id);
            round.end = known ? known : share.vote_end;
            if (round.end == no_end) round.end.reset();
            round.id = store_.round(share.share.round_id, round.end.value_or(no_end));
        }
        return round;
    }

    store::Store& store_;
    store::Reader& reader_;
    const domain::Timestamp now_;
    engine::RequestIds ids_;
    std::ostream& out_;
    std::map<domain::Bytes32, Round> rounds_;
    Counts counts_;
    std::uint64_t seen_ = 0;
};

store::HelperCopy copy_into(const store::Options& options, const std::filesystem::path& helper_db,
                            domain::Timestamp now) {
    store::make_directory(options);
    const store::OwnerLock lock(options.directory);
    return store::copy_helper_db(helper_db, options.directory, now);
}

// A copy that nothing can be taken from goes away again.
struct UnusedCopy {
    const store::HelperCopy& copy;
    bool is_used = false;

    ~UnusedCopy() {
        std::error_code error;
        if (copy.made && !is_used) std::filesystem::remove(copy.path, error);
    }
};

void describe(const store::HelperCopy& copy, std::ostream& out) {
    out << "copy: " << copy.path.string()
        << (copy.made ? "" : " (of an earlier import, the same content)") << "\n"
        << "      It holds witness data: keep it as private as the data directory, and delete it "
           "when nothing in it is missed.\n";
}

void describe(const Import& import, std::ostream& out) {
    const Counts& counts = import.counts();
    const auto imported = [&counts](Status status) {
        const auto found = counts.imported.find(status);
        return std::to_string(found == counts.imported.end() ? 0 : found->second);
    };
    out << "imported: " << imported(Status::queued) << " pending, " << imported(Status::completed)
        << " completed, " << imported(Status::failure) << " failed, of "
        << many(import.rounds(), "round") << "\n"
        << "here already: " << counts.here_already << "\n"
        << "conflicts: " << counts.conflicts << "\n"
        << "skipped: " << counts.unreadable << "\n";
    if (counts.without_end > 0) {
        out << "note: nobody knows when the round of " << many(counts.without_end, "share")
            << " ends; no alert will miss them, and they are never purged\n";
    }
    if (counts.unreadable > 0) {
        out << "Skipped shares can not be revealed from what is stored of them. They stay in the "
               "copy; wallets that still have them can send them again.\n";
    }
    if (counts.conflicts > 0) {
        out << "Of shares in conflict the one that was here first is revealed; the other stays in "
               "the copy.\n";
    }
}

}  // namespace

int import_helper_db(const config::Settings& settings, const std::filesystem::path& helper_db,
                     const ports::Progress& progress, std::ostream& out) {
    const platform::RealClock clock;
    platform::SecureRandom random;
    // A file that can not be read makes no database.
    const store::HelperCopy copy = copy_into(settings.store, helper_db, clock.wall());
    UnusedCopy unused{copy};
    store::HelperDb source(copy.path);
    store::Store store(settings.store);
    if (const auto identity = vote_chain_identity(settings)) engine::claim(store, *identity);
    store::Reader reader(settings.store, 1);
    unused.is_used = true;
    out << "into: " << store::database_path(settings.store).string() << "\n";
    describe(copy, out);
    Import import(store, reader, clock, random, out);
    import.run(source, progress);
    describe(import, out);
    const Counts& counts = import.counts();
    return counts.unreadable + counts.conflicts > 0 ? config::exit_not_all : EXIT_SUCCESS;
}

}  // namespace commands
