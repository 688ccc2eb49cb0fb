#pragma once

#include <optional>
#include <variant>

#include "cluster/database.hpp"
#include "cluster/entry.hpp"
#include "cluster/simulated_node.hpp"
#include "store/commit_sink.hpp"
#include "store/database.hpp"

namespace cluster_test {

// A journal without a safeguard, as a build has it that must be caught.
class CarelessWriter : public store::CommitSink {
public:
    enum class Fault {
        lets_effects_out_first,  // the journal gets an entry some time after its step
        asks_nobody,             // whether it still owns the book
    };

    CarelessWriter(const OwnerParts& parts, Fault fault)
        : database_(parts.database),
          keys_(parts.keys),
          random_(parts.random),
          clock_(parts.clock),
          file_(parts.file),
          fault_(fault),
          position_(parts.position),
          epoch_(parts.epoch) {}

    [[nodiscard]] store::JournalPosition decide(const store::RowChanges& changes) override {
        if (!write()) throw store::NotDecided("the entry before is not there");
        const cluster::EntryPlace place{position_.book, position_.shard,
                                        static_cast<std::int64_t>(position_.seq) + 1, epoch_,
                                        position_.hash};
        domain::Bytes bytes =
            cluster::seal_entry(keys_, place,
                                {cluster::EntryKind::changes,
                                 static_cast<std::uint32_t>(store::newest_schema(file_)),
                                 clock_.wall(),
                                 clock_.wall(),
                                 store::encode_changes(changes),
                                 {}},
                                random_);
        position_ = {position_.book, position_.shard, position_.seq + 1,
                     static_cast<std::uint64_t>(epoch_), cluster::hash_of(place, bytes)};
        unwritten_.emplace(Unwritten{place, std::move(bytes)});
        if (fault_ == Fault::asks_nobody) insist();
        return position_;
    }
    void committed() noexcept override {}

    // False: the database could not be asked.
    bool write() {
        if (!unwritten_) return true;
        const auto outcome = append();
        if (std::holds_alternative<cluster::Unavailable>(outcome)) return false;
        if (!std::holds_alternative<cluster::Appended>(outcome)) {
            throw store::OwnershipLost("the journal did not take an entry");
        }
        unwritten_.reset();
        return true;
    }

private:
    struct Unwritten {
        cluster::EntryPlace place;
        domain::Bytes bytes;
    };

    [[nodiscard]] cluster::Outcome<cluster::Appended, cluster::Fenced> append() {
        return database_.append({unwritten_->place.seq, epoch_, unwritten_->place.previous,
                                 position_.hash, unwritten_->place.seq - 1, unwritten_->bytes});
    }

    // The same once more, until it is there.
    void insist() {
        constexpr int tries_max = 5;
        for (int tries = 0; tries < tries_max; ++tries) {
            if (std::holds_alternative<cluster::Appended>(append())) {
                unwritten_.reset();
                return;
            }
        }
        throw store::OwnershipLost("the journal did not take an entry");
    }

    cluster::Database& database_;
    const cluster::Keys& keys_;
    support::SeededRandom& random_;
    const support::VirtualClock& clock_;
    const store::Options& file_;
    const Fault fault_;
    store::JournalPosition position_;
    const std::int64_t epoch_;
    std::optional<Unwritten> unwritten_;
};

}  // namespace cluster_test
