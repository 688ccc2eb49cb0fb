// The engine over the journal: nodes that die, stand still or lose their database take turns as
// owners, beside a chain and clients that outlive them. Counted from what the chain has, what the
// clients were told, and every node's file.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "cluster/careless_writer.hpp"
#include "cluster/simulated_chain.hpp"
#include "cluster/simulated_cluster.hpp"
#include "support/engine.hpp"
#include "support/requests.hpp"

using cluster_test::CarelessWriter;
using cluster_test::OwnerParts;
using cluster_test::OwnerWork;
using cluster_test::SimulatedChain;
using cluster_test::SimulatedCluster;
using cluster_test::SimulatedGateway;
using cluster_test::SimulatedNode;
using namespace std::chrono_literals;

namespace {

using Fault = CarelessWriter::Fault;

// More on demand: POSTHOUSE_ENGINES_SEEDS=20000, POSTHOUSE_ENGINES_FIRST=1.
std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return text != nullptr ? static_cast<std::uint64_t>(std::atoll(text)) : otherwise;
}

engine::Options engine_options() {
    engine::Options options;
    options.readiness_pause = 300ms;
    options.sealed_pause_max = 1'000ms;
    options.unreachable_pause = {200ms, 2'000ms};
    options.user_decrypt_shares_threshold = 2;
    options.shares.max_concurrent_proofs = 4;
    return options;
}

// One ownership of the real engine.
class EngineWork : public OwnerWork {
public:
    EngineWork(const OwnerParts& parts, SimulatedChain& chain, std::optional<Fault> fault)
        : clock_(parts.clock),
          lease_(parts.lease),
          fault_(fault),
          executor_(parts.clock),
          gateway_(
              chain, parts.clock, executor_, [this] { return may_act(); },
              parts.random.below(1'000'000)) {
        if (fault) careless_.emplace(parts, *fault);
        store::CommitSink& journal =
            careless_ ? static_cast<store::CommitSink&>(*careless_) : parts.journal;
        process_ = std::make_unique<support::Process>(parts.file, engine_options(), gateway_,
                                                      parts.clock, parts.random, parts.log,
                                                      observers_, nullptr, nullptr, &journal);
        static_cast<void>(process_->processor.recover());
    }

    // Looked at before anything leaves the node.
    [[nodiscard]] bool may_act() const { return fault_ == Fault::asks_nobody || lease_.is_held(); }

    void step() override {
        constexpr int turns_max = 8;
        if (careless_) static_cast<void>(careless_->write());
        executor_.run_due();
        for (int turns = 0; turns < turns_max && is_due(); ++turns) {
            const engine::Processor::Wait wait = process_->processor.turn();
            next_turn_ = clock_.monotonic() + wait.length;
            is_pausing_ = !wait.events_end_it;
            executor_.run_due();
        }
    }

    void submit(const domain::Request& request, engine::Reply reply) {
        engine::SubmitOptions options;
        if (domain::kind_of(request) == domain::Kind::share) {
            options.vote_end = domain::from_unix_ms(4'102'444'800'000);
        }
        process_->service.submit(request, options,
                                 [this, reply = std::move(reply)](engine::AcceptOutcome outcome) {
                                     if (may_act()) reply(std::move(outcome));
                                 });
    }

    // Nothing: it may not tell.
    [[nodiscard]] std::optional<engine::FindOutcome> find(const domain::RequestId& id) {
        engine::FindOutcome outcome = process_->service.find(id);
        return may_act() ? std::optional(std::move(outcome)) : std::nullopt;
    }

private:
    [[nodiscard]] bool is_due() {
        return clock_.monotonic() >= next_turn_ || (!is_pausing_ && !process_->inbox.is_empty());
    }

    support::VirtualClock& clock_;
    const cluster::Lease& lease_;
    const std::optional<Fault> fault_;
    support::VirtualExecutor executor_;
    SimulatedGateway gateway_;
    std::optional<CarelessWriter> careless_;
    engine::Observers observers_;
    std::unique_ptr<support::Process> process_;
    domain::Monotonic next_turn_{};
    bool is_pausing_ = false;
};

// Ask for things, ask again when nobody answers, and keep every answer.
class Clients {
public:
    explicit Clients(std::uint64_t seed) : random_(seed) {}

    struct Job {
        domain::Request request;
        std::optional<domain::RequestId> id{};
        std::string end{};  // empty: not known yet
    };

    // Does one thing now and then; `posts`: also something new.
    void act(EngineWork& work, const support::VirtualClock& clock, bool posts) {
        if (posts && random_.chance(100)) post(work, clock);
        if (jobs_.empty() || !random_.chance(400)) return;
        const auto one =
            std::next(jobs_.begin(), static_cast<std::ptrdiff_t>(random_.below(jobs_.size())));
        if (!one->second.id || random_.chance(50)) {
            ask(work, one->first);
        } else {
            poll(work, one->second);
        }
    }

    void poll_all(EngineWork& work) {
        for (auto& [number, job] : jobs_) {
            if (!job.id) ask(work, number);
            if (job.id && job.end.empty()) poll(work, job);
        }
    }

    void count_lost(EngineWork& work) {
        for (auto& [number, job] : jobs_) {
            if (job.id) poll(work, job);
        }
    }

    [[nodiscard]] bool are_content() const {
        return std::ranges::all_of(jobs_, [](const auto& job) { return !job.second.end.empty(); });
    }
    [[nodiscard]] const std::map<std::uint64_t, Job>& jobs() const { return jobs_; }

    std::set<domain::RequestId> lost;
    std::uint64_t contradicted = 0;

private:
    void post(EngineWork& work, const support::VirtualClock& clock) {
        const std::uint64_t number = jobs_.size() + 1;
        const auto kind = domain::kinds[random_.below(domain::kinds.size())];
        domain::Request request = support::request_of(kind, number);
        if (auto* share = std::get_if<domain::VoteShare>(&request)) {
            const auto now = std::chrono::floor<std::chrono::seconds>(clock.wall());
            share->submit_at =
                static_cast<std::uint64_t>(now.time_since_epoch().count()) + random_.below(8);
        }
        jobs_.emplace(number, Job{std::move(request)});
        ask(work, number);
    }

    void ask(EngineWork& work, std::uint64_t number) {
        work.submit(jobs_.at(number).request, [this, number](engine::AcceptOutcome outcome) {
            const auto* accepted = std::get_if<engine::Accepted>(&outcome);
            if (accepted == nullptr) return;
            auto& known = jobs_.at(number).id;
            if (known && *known != accepted->id) ++contradicted;
            known = accepted->id;
        });
    }

    void poll(EngineWork& work, Job& job) {
        const auto outcome = work.find(*job.id);
        if (!outcome) return;
        std::string end;
        if (std::holds_alternative<engine::NotFound>(*outcome)) {
            lost.insert(*job.id);
            return;
        }
        if (const auto* completed = std::get_if<engine::Completed>(&*outcome)) {
            end = completed->result
                      ? "completed " + domain::to_hex(domain::encode(*completed->result))
                      : "unreadable";
        } else if (const auto* ended = std::get_if<engine::Ended>(&*outcome)) {
            end = "ended: " + ended->failure.text;
        }
        if (!job.end.empty() && job.end != end) ++contradicted;
        if (job.end.empty()) job.end = end;
    }

    support::SeededRandom random_;
    std::map<std::uint64_t, Job> jobs_;
};

struct EngineCluster : SimulatedCluster {
    EngineCluster(std::uint64_t seed, std::optional<Fault> fault)
        : SimulatedCluster(seed, seed % 3 == 0 ? 3 : 2,
                           [this, fault](const OwnerParts& parts) {
                               return std::make_unique<EngineWork>(parts, chain, fault);
                           }),
          chain(clock, seed + 1'000'000),
          clients(seed + 2'000'000) {
        if (fault == Fault::asks_nobody) {
            server.drop_fencing();
            for (const auto& node : nodes) node->ignore_lease();
        }
        at_each_moment = [this] {
            chain.step();
            for (EngineWork* work : engines()) clients.act(*work, clock, posts);
        };
    }

    // Of whoever believes to be the owner; there may be several that do.
    [[nodiscard]] std::vector<EngineWork*> engines() const {
        std::vector<EngineWork*> all;
        for (const auto& node : nodes) {
            if (auto* work = dynamic_cast<EngineWork*>(node->work())) all.push_back(work);
        }
        return all;
    }

    // Nothing happens any more: all that was asked for comes to an end.
    void settle() {
        posts = false;
        server.set_faults({});
        mend();
        constexpr int for_an_owner = 8;
        for (int second = 0; second < 90; ++second) {
            if (second >= for_an_owner && clients.are_content()) break;
            run_for(1s);
            for (EngineWork* work : engines()) clients.poll_all(*work);
        }
        for (EngineWork* work : engines()) clients.count_lost(*work);
        for (const auto& node : nodes) node->rest();
        run_for(2s);
    }

    SimulatedChain chain;
    Clients clients;
    bool posts = true;
};

struct Counted {
    std::uint64_t accepted = 0;
    std::uint64_t lost = 0;
    std::uint64_t never_ended = 0;
    std::uint64_t failed = 0;
    std::uint64_t never_included = 0;
    std::uint64_t twice = 0;
    std::uint64_t early = 0;
    std::uint64_t nonce_used = 0;
    std::uint64_t holes = 0;
    std::uint64_t contradicted = 0;
    std::uint64_t different_files = 0;

    // What clients and the chain can see.
    [[nodiscard]] std::uint64_t seen_wrong() const {
        return lost + failed + never_included + twice + early + nonce_used + contradicted;
    }
    [[nodiscard]] std::uint64_t wrong() const {
        return seen_wrong() + never_ended + holes + different_files;
    }
};

std::string to_string(const Counted& counted) {
    const auto part = [](const char* name, std::uint64_t count) {
        return std::string(" ") + name + "=" + std::to_string(count);
    };
    return "accepted=" + std::to_string(counted.accepted) + part("lost", counted.lost) +
           part("never_ended", counted.never_ended) + part("failed", counted.failed) +
           part("never_included", counted.never_included) + part("twice", counted.twice) +
           part("early", counted.early) + part("nonce_used", counted.nonce_used) +
           part("holes", counted.holes) + part("contradicted", counted.contradicted) +
           part("different_files", counted.different_files);
}

Counted play_engines(std::uint64_t seed, std::optional<Fault> fault) {
    EngineCluster cluster(seed, fault);
    cluster.server.set_faults({10, 10, 10, 5, 10});
    cluster.live_through(fault ? 6 : 3);
    cluster.settle();

    const SimulatedChain& chain = cluster.chain;
    Counted counted{.lost = cluster.clients.lost.size(),
                    .twice = chain.counts().twice,
                    .early = chain.counts().early,
                    .nonce_used = chain.counts().nonce_used,
                    .holes = chain.has_waiting() ? 1U : 0U,
                    .contradicted = cluster.clients.contradicted};
    for (const auto& [number, job] : cluster.clients.jobs()) {
        if (!job.id) {
            ++counted.never_ended;
            continue;
        }
        ++counted.accepted;
        const bool is_share = domain::kind_of(job.request) == domain::Kind::share;
        const bool is_included =
            is_share ? chain.was_revealed(*job.id) : chain.has_included(*job.id);
        if (!is_included) ++counted.never_included;
        if (job.end.empty()) ++counted.never_ended;
        if (job.end.starts_with("ended")) ++counted.failed;
    }
    std::set<domain::Bytes32> digests;
    for (const auto& node : cluster.nodes) digests.insert(node->digest());
    counted.different_files = digests.size() - 1;
    return counted;
}

}  // namespace

TEST_CASE("the engine over the journal loses nothing, does nothing twice, and never contradicts") {
    const std::uint64_t first = number_from("POSTHOUSE_ENGINES_FIRST", 1);
    const std::uint64_t seeds = number_from("POSTHOUSE_ENGINES_SEEDS", 150);
    std::uint64_t accepted = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        CAPTURE(seed);
        const Counted counted = play_engines(seed, std::nullopt);
        CAPTURE(to_string(counted));
        REQUIRE(counted.wrong() == 0);
        accepted += counted.accepted;
    }
    MESSAGE("seeds " << first << " to " << first + seeds - 1 << ": " << accepted << " accepted");
    CHECK(accepted > seeds * 5);
}

TEST_CASE("an engine without one of the safeguards is caught within ten seeds") {
    for (const Fault fault : {Fault::lets_effects_out_first, Fault::asks_nobody}) {
        CAPTURE(static_cast<int>(fault));
        std::uint64_t first_caught = 0;
        for (std::uint64_t seed = 1; seed <= 10 && first_caught == 0; ++seed) {
            const Counted counted = play_engines(seed, fault);
            if (counted.seen_wrong() == 0) continue;
            first_caught = seed;
            MESSAGE("caught by seed " << seed << ": " << to_string(counted));
        }
        CHECK(first_caught > 0);
    }
}

TEST_CASE("the same seed of the engines does the same things") {
    CHECK(to_string(play_engines(7, std::nullopt)) == to_string(play_engines(7, std::nullopt)));
}
