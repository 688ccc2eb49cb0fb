#include "commands/drill/chain_drill.hpp"

#include <chrono>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "chains/evm/doctor_checks.hpp"
#include "chains/evm/nodes.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "commands/drill/asking.hpp"
#include "commands/drill/chain_ground.hpp"
#include "commands/drill/load.hpp"
#include "commands/drill/pace.hpp"
#include "commands/drill/rounds.hpp"
#include "commands/drill/scratch.hpp"
#include "commands/drill/server.hpp"
#include "commands/drill/settings.hpp"
#include "platform/real_clock.hpp"

namespace commands::drill {

namespace {

using namespace std::chrono_literals;

struct Extent {
    std::uint64_t rounds;
    std::uint64_t requests;
};
constexpr Extent quick_extent{3, 10};
constexpr Extent usual_extent{10, 30};

constexpr std::uint64_t scratch_bytes_on_chain = 64ULL << 20U;
constexpr std::size_t small_ciphertext = 64;  // each byte costs gas
constexpr unsigned clients_on_chain = 2;
constexpr std::uint64_t client_pause_ms = 300;
// Blocks may take their time, and a fee that is too low has to be raised; nobody may ever answer.
constexpr Patience patience_with_chain{.any = 150s, .waiting = 15s};
constexpr auto pool_patience = 30s;

constexpr double seconds_of_disk = 1;
constexpr double seconds_of_chain = 20;

// The bound of what is asked for. Any thread.
class Purse {
public:
    Purse(std::uint64_t rounds, std::uint64_t requests, std::uint64_t host_chain)
        : rounds_left_(rounds), left_(requests), host_chain_(host_chain) {}

    // What is left is shared out evenly among the rounds to come.
    void begin_round() {
        const std::lock_guard lock(mutex_);
        if (rounds_left_ == 0) return;
        left_of_round_ = (left_ + rounds_left_ - 1) / rounds_left_;
        --rounds_left_;
    }

    std::optional<Wish> draw(std::mt19937_64& dice) {
        const std::lock_guard lock(mutex_);
        if (left_of_round_ == 0) return std::nullopt;
        --left_of_round_;
        --left_;
        // Most test chains have none of the ciphertexts, and refuse those decryptions for nothing.
        const bool decrypts = dice() % 4 == 0;
        asked_.push_back(
            {.kind = decrypts ? domain::Kind::public_decrypt : domain::Kind::input_proof,
             .number = asked_.size() + 1,
             .host_chain = host_chain_,
             .ciphertext_bytes = small_ciphertext});
        return asked_.back();
    }

    [[nodiscard]] std::vector<Wish> asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

private:
    mutable std::mutex mutex_;
    std::uint64_t rounds_left_;
    std::uint64_t left_;
    std::uint64_t left_of_round_ = 0;
    const std::uint64_t host_chain_;
    std::vector<Wish> asked_;
};

// Signs a probe to know it: one that is elsewhere tells its address late.
domain::Address address_of(chains::evm::Signer& signer, std::uint64_t chain_id,
                           const ports::Clock& clock) {
    using chains::diagnosis::Finding;
    const Finding finding = chains::evm::doctor::check_signing(signer, chain_id, clock);
    const auto address = signer.known_address();
    if (finding.verdict == Finding::Verdict::failed || !address) {
        throw std::runtime_error(finding.subject + ": " + finding.text);
    }
    return *address;
}

// Before there is anything to settle.
const config::Settings& tested(const config::Settings& settings) {
    require_test_chain(settings);
    return settings;
}

}  // namespace

class ChainDrill::Impl {
public:
    Impl(const config::Settings& settings, const ChainDrillOptions& options)
        : settings_(tested(settings)),
          extent_(extent_of(options)),
          seed_(options.drill.seed.value_or(std::random_device{}() % 1'000'000)),
          file_(options.file),
          signer_(
              chains::evm::signers::make_signer(settings.evm, settings.evm.keys().front(), clock_)),
          node_(chains::evm::make_node(settings.evm.write_urls, settings.evm, clock_)),
          address_(address_of(*signer_, settings.evm.chain_id, clock_)),
          account_(*node_, address_, wait_),
          ground_(survey(settings, account_, address_)) {}

    [[nodiscard]] std::string price() const { return price_of(ground_, extent_.requests); }

    Report run(const ports::Progress& progress) {
        Notebook notebook;
        Pace pace(progress, notebook,
                  seconds_of_disk + seconds_of_round * static_cast<double>(extent_.rounds) +
                      seconds_of_chain);
        pace_ = [&pace](std::chrono::milliseconds time) { pace.wait(time); };
        const Scratch scratch(settings_.store.directory, scratch_bytes_on_chain);
        const Place place{
            .home = scratch.path() / "load",
            .settings = OperatorSettings{file_, variables_on_chain(ground_.block + 1)}};
        std::filesystem::create_directories(place.data());
        Report report = begun_report(scratch);
        pace.begin("measuring", seconds_of_disk);
        measure_disk(scratch.path(), report);

        std::mt19937_64 dice(seed_);
        Purse purse(extent_.rounds, extent_.requests, settings_.evm.host_chains.front().chain_id);
        Rounds(place, pace, notebook, dice)
            .run(
                [&](Server& server) {
                    purse.begin_round();
                    return load_on(server, notebook, purse, dice());
                },
                report);
        pace.begin("ending", seconds_of_chain);
        ChainEvidence evidence = let_it_end(place, notebook);
        evidence.asked = purse.asked();
        read_chain(evidence, *report.chain);
        report.counts = judge_on_chain(evidence, *report.chain);
        if (report.counts.lost > 0) {
            report.counts.violations.push_back("what was lost came no further; the log ends: " +
                                               log_end_);
        }
        return report;
    }

private:
    static Extent extent_of(const ChainDrillOptions& options) {
        const Extent usual = options.drill.quick ? quick_extent : usual_extent;
        return {options.drill.rounds.value_or(usual.rounds),
                options.requests.value_or(usual.requests)};
    }

    [[nodiscard]] Report begun_report(const Scratch& scratch) const {
        Report report;
        report.seed = seed_;
        report.rounds = extent_.rounds;
        report.directory = scratch.path().parent_path();
        report.power_cut_safe = settings_.store.synchronous == store::Synchronous::full;
        report.full_disk.not_tried = "that is for the drill on the embedded chain, without --chain";
        report.clock_steps.not_tried = report.full_disk.not_tried;
        report.chain = {.chain_id = ground_.chain_id,
                        .signer = ground_.signer,
                        .requests_max = extent_.requests,
                        .first_block = ground_.block + 1,
                        .nonce_before = ground_.nonce};
        return report;
    }

    // Nothing is asked for twice: a request that failed would be paid for once more.
    [[nodiscard]] std::unique_ptr<Load> load_on(Server& server, Notebook& notebook, Purse& purse,
                                                std::uint64_t dice) const {
        return std::make_unique<Load>(
            server.client(), notebook,
            Load::Options{
                .seed = seed_,
                .dice = dice,
                .draw = [&purse](std::mt19937_64& drawing) { return purse.draw(drawing); },
                .clients = clients_on_chain,
                .pause_ms_max = client_pause_ms,
                .repeats_percent = 0});
    }

    ChainEvidence let_it_end(const Place& place, const Notebook& notebook) {
        const auto server = start(place, wait_);
        ChainEvidence evidence;
        evidence.seed = seed_;
        evidence.notes = notebook.notes();
        evidence.answers = ask_until_ended(server->client(), seed_, evidence.notes.promises, wait_,
                                           patience_with_chain);
        // Also those of requests whose promise got lost on its way.
        const auto end = std::chrono::steady_clock::now() + pool_patience;
        while (std::chrono::steady_clock::now() < end &&
               account_.count_pending() > account_.count(account_.head())) {
            wait_(500ms);
        }
        log_end_ = server->log_end();
        stop_cleanly(*server, evidence.notes);
        return evidence;
    }

    void read_chain(ChainEvidence& evidence, ChainFigures& figures) {
        figures.last_block = account_.head();
        figures.nonce_after = account_.count(figures.last_block);
        evidence.transactions = account_.transactions(figures.first_block, figures.last_block);
    }

    const config::Settings& settings_;
    const Extent extent_;
    const std::uint64_t seed_;
    const std::optional<std::filesystem::path> file_;
    const platform::RealClock clock_;
    const std::unique_ptr<chains::evm::Signer> signer_;
    const std::unique_ptr<chains::jsonrpc::Node> node_;
    const domain::Address address_;
    // Before there is somebody to tell how far it is, nobody is told.
    Wait pace_ = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
    const Wait wait_ = [this](std::chrono::milliseconds time) { pace_(time); };
    ChainAccount account_;
    const ChainGround ground_;
    std::string log_end_;  // before the last stop
};

ChainDrill::ChainDrill(const config::Settings& settings, const ChainDrillOptions& options)
    : impl_(std::make_unique<Impl>(settings, options)) {}

ChainDrill::~ChainDrill() = default;

std::string ChainDrill::price() const {
    return impl_->price();
}

Report ChainDrill::run(const ports::Progress& progress) {
    return impl_->run(progress);
}

}  // namespace commands::drill
