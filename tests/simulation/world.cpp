#include "simulation/world.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "chains/loopback/gateway.hpp"
#include "domain/moves.hpp"
#include "engine/gates.hpp"
#include "simulation/observed_gateway.hpp"
#include "support/engine.hpp"

namespace simulation {

using domain::Milliseconds;
using domain::Status;

namespace {

// All choices of one run.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : random_(seed) {}

    std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        return low + random_.below(high - low + 1);
    }
    std::uint32_t small(std::uint32_t low, std::uint32_t high) {
        return static_cast<std::uint32_t>(between(low, high));
    }
    bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
    // Mostly none, sometimes few, rarely many.
    std::uint32_t permille() {
        if (!one_in(3)) return 0;
        return one_in(4) ? small(100, 400) : small(5, 80);
    }
    chains::loopback::Latency latency() {
        if (one_in(4)) return chains::loopback::fixed(Milliseconds{0});
        const auto low = static_cast<std::int64_t>(between(0, 300));
        return {Milliseconds{low},
                Milliseconds{low + static_cast<std::int64_t>(between(0, 2'000))}};
    }

private:
    support::SeededRandom random_;
};

engine::Options engine_options(Chance& chance) {
    engine::Options options;
    for (engine::ReadinessGateOptions* gate :
         {&options.readiness.public_decrypt, &options.readiness.user_decrypt}) {
        gate->max_concurrency = chance.small(1, 6);
        gate->capacity = chance.small(3, 30);
        gate->safety_margin = chance.small(0, 2);
    }
    for (engine::SendGateOptions* gate :
         {&options.sending.input_proof, &options.sending.public_decrypt,
          &options.sending.user_decrypt}) {
        gate->per_seconds = chance.one_in(3) ? 1'000 : chance.small(1, 20);
        gate->burst = chance.one_in(2) ? 0 : chance.small(1, 5);
        gate->capacity = chance.small(3, 30);
        gate->safety_margin = chance.small(0, 2);
    }
    options.sends_max = chance.small(1, 12);
    options.readiness_attempts_max = chance.small(3, 12);
    options.shares.max_concurrent_proofs = chance.small(1, 4);
    options.shares.strict_attempts = chance.one_in(4);
    options.shares.confirm_reveals = chance.one_in(2);
    options.shares.confirms_max = chance.small(1, 3);
    options.shares.backoff_first = Milliseconds{chance.one_in(3) ? 100 : 2'000};
    options.retention.share = std::chrono::hours{24 * 365};  // what ended can be looked at
    options.lease = std::chrono::minutes{2};
    options.fair_queues = chance.one_in(3);
    return options;
}

chains::loopback::Options chain_options(Chance& chance, const std::string& ledger) {
    chains::loopback::Options options;
    options.ledger = ledger;
    options.ledger_synchronous = chains::loopback::LedgerSynchronous::off;
    options.seed = chance.between(1, 1'000'000);
    options.readiness = chance.latency();
    options.prepare = chance.latency();
    options.proof = chance.latency();
    options.confirmation = chance.latency();
    options.response = chance.latency();
    for (std::uint32_t* share :
         {&options.unreachable_checks, &options.acl_refusals, &options.late_readiness,
          &options.unreachable_prepares, &options.estimation_reverts, &options.failed_proofs,
          &options.unreachable_sends, &options.lost_replies, &options.reverts,
          &options.shares_already_revealed, &options.proof_rejections, &options.missing_kms_nodes,
          &options.early_answers, &options.duplicate_answers, &options.foreign_answers}) {
        *share = chance.permille();
    }
    options.not_ready_tries = chance.small(1, 5);
    if (chance.one_in(4)) {
        options.outages.push_back(
            {Milliseconds{static_cast<std::int64_t>(chance.between(0, 20'000))},
             Milliseconds{static_cast<std::int64_t>(chance.between(1, 60'000))}});
    }
    return options;
}

// Reads the engine's file from outside and notes every status change as it is written.
class Inspector {
public:
    explicit Inspector(const std::filesystem::path& file)
        : database_(file.string(), SQLite::OPEN_READWRITE, 5'000) {
        database_.exec(
            "create table if not exists move_log (id, kind, old_status, new_status);"
            "create trigger if not exists moves after update of status on request "
            "when old.status <> new.status begin "
            "insert into move_log values (old.id, old.kind, old.status, new.status); end;"
            "create trigger if not exists frozen before update on request when old.lane >= 8 "
            "begin select raise(abort, 'an ended row was changed'); end;");
    }

    // Every new status change must be one of the law's.
    std::uint64_t check_moves() {
        SQLite::Statement moves(database_,
                                "select rowid, id, kind, old_status, new_status from move_log "
                                "where rowid > ? order by rowid");
        moves.bind(1, last_move_);
        std::uint64_t seen = 0;
        while (moves.executeStep()) {
            last_move_ = moves.getColumn(0).getInt64();
            const auto kind = domain::kind_from(moves.getColumn(2).getString());
            const auto from = domain::status_from(moves.getColumn(3).getString());
            const auto to = domain::status_from(moves.getColumn(4).getString());
            if (!kind || !from || !to || !domain::is_legal(*kind, *from, *to)) {
                broken("illegal move of " + moves.getColumn(2).getString() + ": " +
                       moves.getColumn(3).getString() + " to " + moves.getColumn(4).getString());
            }
            ++seen;
        }
        return seen;
    }

    std::map<std::int64_t, Status> statuses() {
        std::map<std::int64_t, Status> statuses;
        SQLite::Statement rows(database_, "select id, status from request");
        while (rows.executeStep()) {
            statuses.emplace(rows.getColumn(0).getInt64(),
                             domain::status_from(rows.getColumn(1).getString()).value());
        }
        return statuses;
    }

    struct Round {
        std::int64_t total = 0;
        std::int64_t unsubmitted = 0;
        bool closed = false;
    };
    Round round() {
        SQLite::Statement row(database_, "select total, failed + timed_out, closed from round");
        if (!row.executeStep()) return {};
        return {row.getColumn(0).getInt64(), row.getColumn(1).getInt64(),
                row.getColumn(2).getInt() != 0};
    }
    std::int64_t alerts() { return database_.execAndGet("select count(*) from alert").getInt64(); }

    // Rows that say they stand in a line must stand there, and nobody else.
    void check_lines(const engine::Gates& gates) {
        SQLite::Statement rows(database_, "select id, kind, lane from request where lane < 8");
        while (rows.executeStep()) {
            const std::int64_t id = rows.getColumn(0).getInt64();
            const auto kind = domain::kind_from(rows.getColumn(1).getString()).value();
            const bool should = rows.getColumn(2).getInt() == 1;
            if (gates.holds(id, domain::family_of(kind)) != should) {
                broken(should ? "a row waits in no line" : "a line holds a row that does not wait");
            }
        }
    }

private:
    SQLite::Database database_;
    std::int64_t last_move_ = 0;
};

// Notes who was told of which round, and tells the engine of some that they were.
class Pager : public engine::AlertSink {
public:
    void raise(std::vector<engine::RoundAlert> alerts) override {
        for (const engine::RoundAlert& alert : alerts) {
            if (alert.unsubmitted() == 0) broken("an alert of a round with nothing unsubmitted");
            if (alert.total != alert.submitted + alert.unsubmitted()) {
                broken("the numbers of an alert do not add up");
            }
            const Mark mark{alert.round, alert.late};
            if (taken.contains(mark)) broken("an alert came again after it was taken");
            raised[mark] = alert.unsubmitted();
        }
    }

    using Mark = std::pair<std::int64_t, std::uint64_t>;  // round and late shares
    std::map<Mark, std::uint64_t> raised;                 // and what was not submitted
    std::set<Mark> taken;                                 // and written down
};

class World {
public:
    explicit World(std::uint64_t seed)
        : chance_(seed),
          chain_options_(chain_options(chance_, (ledger_.path() / "ledger.db").string())) {
        options_ = engine_options(chance_);
        store_options_.directory = directory_.path();
        store_options_.synchronous = store::Synchronous::normal;
        store_options_.reserve_bytes = 0;
        random_ = std::make_unique<support::SeededRandom>(chance_.between(1, 1'000'000));
        if (chance_.one_in(3)) {
            vote_end_ = std::chrono::floor<std::chrono::seconds>(clock_.wall()) +
                        std::chrono::seconds{chance_.between(5, 180)};
        }
        to_submit_ = chance_.between(5, 40);
        crashes_left_ = chance_.one_in(4) ? 0 : chance_.between(1, 6);
    }

    Tally run() {
        boot();
        while (true) {
            act();
            const bool settled = step();
            if (to_submit_ == 0 && settled) break;
            if (clock_.monotonic() > give_up_) broken("requests do not come to an end");
        }
        check_all();
        check_round();
        tally_.inclusions = chain_->inclusions();
        for (const auto& [id, status] : inspector_->statuses()) {
            if (status == Status::completed) ++tally_.completed;
            if (status == Status::timed_out) ++tally_.timed_out;
            if (status == Status::failure) ++tally_.failed;
        }
        return tally_;
    }

private:
    void boot() {
        chain_ =
            std::make_unique<chains::loopback::Gateway>(chain_options_, clock_, executor_, logger_);
        watched_ = std::make_unique<ObservedGateway>(*chain_, options_, clock_, executor_,
                                                     chance_.between(1, 1'000'000));
        process_ = std::make_unique<support::Process>(store_options_, options_, *watched_, clock_,
                                                      *random_, logger_, observers_, &pager_);
        if (!inspector_) {
            inspector_ = std::make_unique<Inspector>(store::database_path(store_options_));
        }
        static_cast<void>(process_->processor.recover());
    }

    // kill -9 between two commits: what was not written is gone, on both sides.
    void crash() {
        process_.reset();
        watched_.reset();
        executor_.drop_all();
        chain_.reset();
        ++tally_.crashes;
        clock_.advance(Milliseconds{static_cast<std::int64_t>(chance_.between(0, 5'000))});
        boot();
    }

    // An orderly end while work is in flight; the next start goes on with it.
    void stop() {
        process_->inbox.stop();
        process_->processor.run(Milliseconds{0});
        ++tally_.stops;
        crash();
    }

    void take_alerts() {
        // A copy: the turn may raise more.
        for (const auto& [mark, unsubmitted] : std::map(pager_.raised)) {
            if (pager_.taken.contains(mark) || !chance_.one_in(2)) continue;
            process_->inbox.alert_taken({mark.first, mark.second});
            static_cast<void>(process_->processor.turn());
            pager_.taken.insert(mark);
        }
    }

    // What the one round of the shares came to: alerted exactly if something stayed behind.
    void check_round() {
        const auto [total, unsubmitted, closed] = inspector_->round();
        if (!closed) {
            if (!pager_.raised.empty()) broken("an alert of an open round");
            return;
        }
        tally_.alerts += pager_.raised.size();
        const bool must_alert = inspector_->alerts() > 0;
        if (must_alert != !pager_.raised.empty()) broken("an alert was written and not raised");
        if (unsubmitted > 0 && total == unsubmitted && !must_alert) {
            broken("a round closed with nothing submitted and nobody was told");
        }
    }

    void act() {
        if (to_submit_ > 0 && chance_.one_in(3)) submit();
        if (crashes_left_ > 0 && chance_.one_in(15)) {
            --crashes_left_;
            chance_.one_in(3) ? stop() : crash();
        }
        if (chance_.one_in(100)) step_clock();
        if (chance_.one_in(10)) take_alerts();
    }

    void submit() {
        --to_submit_;
        const std::uint64_t number = chance_.between(1, 30);
        const auto now = domain::unix_ms(clock_.wall()) / 1'000;
        domain::Request request;
        switch (chance_.between(0, 3)) {
            case 0:
                request = support::input_proof(number);
                break;
            case 1:
                request = support::public_decrypt(number);
                break;
            case 2:
                request = support::user_decrypt(number);
                break;
            default: {
                const std::uint64_t ahead = chance_.one_in(3) ? 0 : chance_.between(1, 90);
                request = support::vote_share(
                    number, ahead == 0 ? 0 : static_cast<std::uint64_t>(now) + ahead);
            }
        }
        const bool is_share = domain::kind_of(request) == domain::Kind::share;
        engine::SubmitOptions submit_options;
        if (is_share) submit_options.vote_end = vote_end_;
        submit_options.client = static_cast<std::int64_t>(chance_.between(0, 3));
        std::optional<std::uint64_t> key;
        if (!is_share && chance_.one_in(4)) {
            key = chance_.between(1, 12);
            submit_options.idempotency_key = support::numbered<domain::Bytes32>(*key);
        }
        process_->service.submit(request, submit_options,
                                 [this, key, content = domain::identify(request).content](
                                     const engine::AcceptOutcome& outcome) {
                                     note(outcome);
                                     if (key) note_key(*key, content, outcome);
                                 });
    }

    // A key that was answered for once stands for that request and no other, over every crash.
    void note_key(std::uint64_t key, const domain::Bytes32& content,
                  const engine::AcceptOutcome& outcome) {
        const auto known = keys_.find(key);
        if (const auto* accepted = std::get_if<engine::Accepted>(&outcome)) {
            const Keyed keyed{content, accepted->id.sequence};
            if (known == keys_.end()) {
                keys_.emplace(key, keyed);
            } else if (known->second.content != content) {
                broken("an Idempotency-Key stands for two requests");
            } else if (known->second.sequence != keyed.sequence) {
                broken("an Idempotency-Key gave two jobs");
            }
        } else if (std::holds_alternative<engine::KeyReused>(outcome) && known != keys_.end() &&
                   known->second.content == content) {
            broken("an Idempotency-Key does not know its request again");
        }
    }

    void note(const engine::AcceptOutcome& outcome) {
        if (const auto* accepted = std::get_if<engine::Accepted>(&outcome)) {
            ++(accepted->duplicate ? tally_.duplicates : tally_.accepted);
            acknowledged_.insert(accepted->id.sequence);
            if (accepted->retry_after_seconds < options_.retry_after.min_seconds ||
                accepted->retry_after_seconds > options_.retry_after.max_seconds) {
                broken("Retry-After out of its bounds");
            }
        } else {
            ++tally_.refused;
        }
    }

    void step_clock() {
        ++tally_.clock_steps;
        const auto by = static_cast<std::int64_t>(chance_.between(0, 7'200'000)) - 3'600'000;
        clock_.step_wall(Milliseconds{by});
    }

    // One turn, the checks, then time goes on to whatever comes next. True when all is done.
    bool step() {
        const engine::Processor::Wait wait = process_->processor.turn();
        ++tally_.steps;
        check();
        if (!process_->inbox.is_empty()) return false;
        domain::Monotonic next =
            clock_.monotonic() + std::max<domain::Nanoseconds>(wait.length, Milliseconds{0});
        if (const auto due = executor_.next_due()) next = std::min(next, *due);
        if (to_submit_ > 0) {
            next = std::min(next, clock_.monotonic() + Milliseconds{static_cast<std::int64_t>(
                                                           chance_.between(0, 1'500))});
        }
        // Not always all that is due at once: a crash may fall between any two pieces.
        clock_.advance_to(next);
        const std::uint64_t pieces = chance_.between(1, 8);
        for (std::uint64_t i = 0; i < pieces; ++i) {
            const auto due = executor_.next_due();
            if (!due || *due > clock_.monotonic()) break;
            executor_.run_next();
        }
        return process_->inbox.is_empty() && all_ended();
    }

    bool all_ended() {
        const auto statuses = inspector_->statuses();
        return std::all_of(statuses.begin(), statuses.end(),
                           [](const auto& entry) { return domain::is_terminal(entry.second); });
    }

    void check() {
        tally_.moves += inspector_->check_moves();
        if (tally_.steps % 4 == 0) check_all();
    }

    void check_all() {
        inspector_->check_lines(process_->gates);
        const auto statuses = inspector_->statuses();
        for (const std::int64_t id : acknowledged_) {
            if (!statuses.contains(id)) broken("an accepted request is gone");
        }
        if (chain_->double_inclusions() != 0) broken("a request was included twice");
    }

    Chance chance_;
    support::TempDirectory directory_;
    support::TempDirectory ledger_;
    support::VirtualClock clock_;
    support::VirtualExecutor executor_{clock_};
    support::RecordingLogger logger_;
    engine::Options options_;
    store::Options store_options_;
    chains::loopback::Options chain_options_;
    std::unique_ptr<support::SeededRandom> random_;
    std::unique_ptr<chains::loopback::Gateway> chain_;
    std::unique_ptr<ObservedGateway> watched_;
    struct Keyed {
        domain::Bytes32 content;
        std::int64_t sequence;
    };
    std::map<std::uint64_t, Keyed> keys_;  // Idempotency-Keys and what they stood for
    engine::Observers observers_;
    std::unique_ptr<support::Process> process_;
    std::unique_ptr<Inspector> inspector_;
    Pager pager_;
    domain::Timestamp vote_end_ = domain::from_unix_ms(4'102'444'800'000);
    const domain::Monotonic give_up_ = clock_.monotonic() + std::chrono::hours{24};
    std::uint64_t to_submit_ = 0;
    std::uint64_t crashes_left_ = 0;
    std::set<std::int64_t> acknowledged_;
    Tally tally_;
};

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
    steps += other.steps;
    accepted += other.accepted;
    duplicates += other.duplicates;
    refused += other.refused;
    crashes += other.crashes;
    clock_steps += other.clock_steps;
    moves += other.moves;
    inclusions += other.inclusions;
    completed += other.completed;
    timed_out += other.timed_out;
    failed += other.failed;
    stops += other.stops;
    alerts += other.alerts;
    return *this;
}

std::string to_string(const Tally& tally) {
    const auto part = [](const char* name, std::uint64_t count) {
        return std::string(" ") + name + "=" + std::to_string(count);
    };
    return "steps=" + std::to_string(tally.steps) + part("accepted", tally.accepted) +
           part("duplicates", tally.duplicates) + part("refused", tally.refused) +
           part("crashes", tally.crashes) + part("clock_steps", tally.clock_steps) +
           part("moves", tally.moves) + part("inclusions", tally.inclusions) +
           part("completed", tally.completed) + part("timed_out", tally.timed_out) +
           part("failed", tally.failed) + part("stops", tally.stops) + part("alerts", tally.alerts);
}

Tally run(std::uint64_t seed) {
    try {
        World world(seed);
        return world.run();
    } catch (const std::exception& error) {
        throw std::logic_error("seed " + std::to_string(seed) + ": " + error.what());
    }
}

}  // namespace simulation
