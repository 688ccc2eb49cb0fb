#include "chains/evm/gateway.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>

#include "chains/evm/block_watch.hpp"
#include "chains/evm/contract_wallets.hpp"
#include "chains/evm/contract_watch.hpp"
#include "chains/evm/fees.hpp"
#include "chains/evm/gas_limits.hpp"
#include "chains/evm/key_poller.hpp"
#include "chains/evm/listener.hpp"
#include "chains/evm/monitor.hpp"
#include "chains/evm/preparation.hpp"
#include "chains/evm/readiness.hpp"
#include "chains/evm/seen_logs.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "chains/evm/signing_accounts.hpp"
#include "chains/evm/thresholds.hpp"
#include "chains/evm/unreachable.hpp"
#include "chains/jsonrpc/subscription.hpp"
#include "engine/task_group.hpp"

namespace chains::evm {

using signers::make_signers;

namespace {

constexpr domain::Milliseconds refresh_interval{15'000};
// Whether something waits for that.
constexpr domain::Milliseconds look_interval{2'000};
// A request that is not signed yet takes a number that was given back after its pause of at most
// 5 s, which costs nothing.
constexpr domain::Milliseconds hole_patience{8'000};

// Every part keeps the options; only the signers need the keys.
Options without_keys(Options options) {
    for (Options::Signing& signing : options.keys()) signing.private_key.clear();
    return options;
}

// Who takes transactions says what became of their blocks.
std::vector<jsonrpc::Node*> watching(const Nodes& nodes) {
    std::vector<jsonrpc::Node*> all{nodes.write.get()};
    for (const auto& listener : nodes.listeners) all.push_back(listener.get());
    return all;
}

engine::NotApproved no_such_signer(const std::string& signer) {
    return {engine::NotApproved::Why::bad,
            signer.empty() ? "signer: is missing, and several keys sign: give the address of one"
                           : "signer: " + signer + " does not sign for this process"};
}

}  // namespace

class Gateway::Impl {
public:
    Impl(Options options, Nodes nodes, ports::Clock& clock, Workers workers, ports::Logger& logger,
         std::vector<std::unique_ptr<Signer>> signers)
        : options_(std::move(options)),
          window_(clock),
          nodes_(std::move(nodes)),
          clock_(clock),
          fees_(options_, *nodes_.write, clock),
          gas_(*nodes_.write, clock),
          seen_(clock),
          wallets_(options_, nodes_.hosts),
          readiness_(options_, *nodes_.read, nodes_.hosts, workers.reads, logger),
          thresholds_(options_, *nodes_.protocol, clock, workers.reads, logger),
          keys_(options_, *nodes_.protocol, workers.reads, logger),
          contracts_(options_, nodes_, workers.reads, logger),
          accounts_({options_, *nodes_.write, *nodes_.read, fees_, gas_, window_, reads_, sends_,
                     clock, logger, [this] { return monitor_.on_right_chain(); }},
                    std::move(signers)),
          monitor_(options_, accounts_.signers(), *nodes_.write, workers.reads, clock, logger),
          preparation_(options_, *nodes_.write, *nodes_.read, accounts_, fees_, gas_, reads_,
                       clock),
          block_watch_(
              options_, watching(nodes_),
              [this](const domain::Block& block) { accounts_.bury(block); }, workers.reads, clock,
              [this](std::uint64_t block) { read_again(block); }),
          reads_(workers.reads),
          sends_(workers.sends) {
        names_ = listener_names(options_.listening.listeners);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            listeners_.push_back(std::make_unique<Listener>(
                options_, names_[i], *nodes_.listeners[i], workers.reads, clock, logger, &seen_));
        }
    }

    ~Impl() { stop(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) {
        assert(events_ == nullptr);
        events_ = &events;
        accounts_.start(events, resume);
        block_watch_.start(events);
        const std::optional<std::uint64_t> furthest = furthest_cursor(resume);
        for (std::size_t i = 0; i < listeners_.size(); ++i) {
            const auto cursor = resume.cursors.find(names_[i]);
            listeners_[i]->start(
                events, cursor == resume.cursors.end() ? furthest : std::optional{cursor->second});
        }
        subscribe();
        monitor_.start();
        keys_.start();
        contracts_.start();
        reads_.run([this] { refresh(refresh_interval, {}); });
    }

    void prepare(std::vector<engine::PrepareOrder> orders) {
        assert(events_ != nullptr);
        keep_shares_waiting(orders);
        if (orders.empty()) return;
        std::optional<engine::Unreachable> unfit;
        if (monitor_.on_wrong_chain()) {
            unfit = engine::Unreachable{"the node is on another chain", {}, 0, refresh_interval};
        } else if (!monitor_.on_right_chain()) {
            unfit = engine::unreached("the node has not said yet which chain it is on");
        } else if (std::ranges::none_of(listeners_,
                                        [](const auto& one) { return one->has_start(); })) {
            // What is answered before anybody listens would be missed.
            unfit = engine::unreached("no listener has found the chain yet");
        } else {
            unfit = accounts_.unready();
        }
        if (!unfit) {
            preparation_.prepare(std::move(orders), *events_);
            return;
        }
        unfit->untouched = true;
        answer(orders, *unfit);
    }

    void stop() {
        subscriptions_.clear();
        accounts_.stop();
        for (const auto& node : nodes_.listeners) node->stop();
        for (const auto& [chain, node] : nodes_.hosts) node->stop();
        for (jsonrpc::Node* node : {nodes_.write.get(), nodes_.read.get(), nodes_.protocol.get()}) {
            node->stop();
        }
        wallets_.stop();
        block_watch_.stop();
        for (const auto& listener : listeners_) listener->stop();
        readiness_.stop();
        thresholds_.stop();
        keys_.stop();
        contracts_.stop();
        monitor_.stop();
        reads_.stop();
        sends_.stop();
    }

    [[nodiscard]] std::optional<std::string> problem() const {
        if (auto problem = monitor_.problem()) return problem;
        if (auto problem = accounts_.problem()) return problem;
        const bool deaf = std::ranges::all_of(
            listeners_, [](const auto& one) { return one->problem().has_value(); });
        if (deaf) return "no listener hears the gateway chain";
        return std::nullopt;
    }

    // Not from one that reads what is long past.
    [[nodiscard]] bool hears_answers() const {
        return std::ranges::any_of(listeners_, [this](const auto& one) {
            const std::uint64_t behind = one->head_lag(std::nullopt).value_or(0);
            return !one->problem() && behind <= options_.listening.range_max;
        });
    }

    [[nodiscard]] std::vector<engine::Dependency> dependencies() const {
        std::vector<engine::Dependency> all{
            {"gateway_http", !monitor_.problem() && accounts_.can_send()}};
        if (!accounts_.can_sign()) all.push_back({"signer", false});
        for (std::size_t i = 0; i < listeners_.size(); ++i) {
            all.push_back({"gateway_listener_" + std::to_string(i), !listeners_[i]->problem()});
        }
        std::ranges::move(contracts_.dependencies(), std::back_inserter(all));
        return all;
    }

    // The published contract does, since it emits shares. Of another one nobody knows; then numbers
    // that are looked up decide.
    [[nodiscard]] bool announces_thresholds() const {
        return contracts_.has_published_decryption().value_or(true);
    }

    void read_again(std::uint64_t block) {
        for (const auto& listener : listeners_) listener->read_again(block);
    }

    void watch(const std::vector<domain::Block>& blocks) { block_watch_.watch(blocks); }

    [[nodiscard]] engine::ChainReadings readings() const {
        engine::ChainReadings readings;
        accounts_.read(monitor_, readings);
        readings.most_sent_in_a_second = {
            .input_proof = window_.most(domain::Family::input_proof),
            .public_decrypt = window_.most(domain::Family::public_decrypt),
            .user_decrypt = window_.most(domain::Family::user_decrypt)};
        const auto head = monitor_.head();
        for (const auto& listener : listeners_) {
            const auto lag = listener->head_lag(head);
            if (lag) readings.head_lag = std::min(readings.head_lag.value_or(*lag), *lag);
        }
        return readings;
    }

    [[nodiscard]] engine::GatewayEvents& events() { return *events_; }
    [[nodiscard]] SigningAccounts& accounts() { return accounts_; }
    [[nodiscard]] Readiness& readiness() { return readiness_; }
    [[nodiscard]] Thresholds& thresholds() { return thresholds_; }
    [[nodiscard]] const KeyPoller& keys() const { return keys_; }
    [[nodiscard]] ContractWallets& wallets() { return wallets_; }

private:
    void answer(const std::vector<engine::PrepareOrder>& orders,
                const engine::Unreachable& outcome) {
        std::vector<engine::Prepared> outcomes;
        outcomes.reserve(orders.size());
        for (const engine::PrepareOrder& order : orders) outcomes.push_back({order.id, outcome});
        events_->prepared(std::move(outcomes));
    }

    // They are left from another configuration and go to another chain.
    void keep_shares_waiting(std::vector<engine::PrepareOrder>& orders) {
        const auto shares =
            std::stable_partition(orders.begin(), orders.end(), [](const auto& order) {
                return domain::kind_of(*order.request) != domain::Kind::share;
            });
        if (shares == orders.end()) return;
        answer({shares, orders.end()}, {"this gateway is no chain of vote shares"});
        orders.erase(shares, orders.end());
    }

    // They wake their listener, which reads as always.
    void subscribe() {
        for (std::size_t i = 0; i < listeners_.size(); ++i) {
            const Options::Listener& listener = options_.listening.listeners[i];
            if (listener.type != Options::Listener::Type::subscription) continue;
            subscriptions_.push_back(std::make_unique<jsonrpc::Subscription>(
                subscription_options(options_, listener.url), clock_,
                [this, i] { listeners_[i]->wake(); }));
        }
    }

    // Holes are looked for also while nobody sends. One at a time: a node that hangs takes no more
    // than one reader.
    void refresh(domain::Milliseconds since_last, domain::Milliseconds hole_for) {
        if (since_last >= refresh_interval || hole_for >= hole_patience ||
            accounts_.is_in_hurry()) {
            accounts_.refresh();
            since_last = domain::Milliseconds{0};
        }
        hole_for = accounts_.has_hole() ? hole_for + look_interval : domain::Milliseconds{0};
        reads_.run_after(look_interval, [this, since_last, hole_for] {
            refresh(since_last + look_interval, hole_for);
        });
    }

    const Options options_;
    SendWindow window_;  // calls under way know it
    const Nodes nodes_;
    const ports::Clock& clock_;
    engine::GatewayEvents* events_ = nullptr;
    Fees fees_;
    GasLimits gas_;
    SeenLogs seen_;
    ContractWallets wallets_;
    Readiness readiness_;
    Thresholds thresholds_;
    KeyPoller keys_;
    ContractWatch contracts_;
    SigningAccounts accounts_;
    Monitor monitor_;
    std::vector<std::string> names_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::vector<std::unique_ptr<jsonrpc::Subscription>> subscriptions_;
    Preparation preparation_;
    BlockWatch block_watch_;
    // Last: they wait for work that uses the rest.
    engine::TaskGroup reads_;
    engine::TaskGroup sends_;
};

Gateway::Gateway(Options options, ports::Clock& clock, Workers workers, ports::Logger& logger) {
    auto signers = make_signers(options, clock);
    Nodes nodes = make_nodes(options, clock);
    impl_ = std::make_unique<Impl>(without_keys(std::move(options)), std::move(nodes), clock,
                                   workers, logger, std::move(signers));
}

Gateway::Gateway(Options options, Nodes nodes, ports::Clock& clock, Workers workers,
                 ports::Logger& logger, std::vector<std::unique_ptr<Signer>> signers) {
    if (signers.empty()) signers = make_signers(options, clock);
    impl_ = std::make_unique<Impl>(without_keys(std::move(options)), std::move(nodes), clock,
                                   workers, logger, std::move(signers));
}

Gateway::~Gateway() = default;

void Gateway::listen(engine::GatewayEvents& events, const engine::Resume& resume) {
    impl_->listen(events, resume);
}

void Gateway::check(std::vector<engine::CheckOrder> orders) {
    impl_->readiness().check(std::move(orders), impl_->events());
}

void Gateway::prepare(std::vector<engine::PrepareOrder> orders) {
    impl_->prepare(std::move(orders));
}

void Gateway::send(std::vector<engine::SendOrder> orders) {
    impl_->accounts().send(std::move(orders), impl_->events());
}

void Gateway::send_own(std::vector<store::OwnTransaction> own) {
    impl_->accounts().send_own(std::move(own));
}

engine::Sealed Gateway::seal(const domain::RequestId&, domain::Kind, const engine::Plan& plan) {
    return impl_->accounts().seal(plan);
}

std::optional<std::uint64_t> Gateway::fetch_seal(const domain::RequestId& id, domain::Kind,
                                                 const engine::Plan& plan) {
    return impl_->accounts().fetch_seal(id, plan);
}

void Gateway::end_seal(std::uint64_t ticket, bool stored) {
    impl_->accounts().end_seal(ticket, stored);
}

void Gateway::keep_sealed() {
    impl_->accounts().keep_sealed();
}

void Gateway::undo_sealed() {
    impl_->accounts().undo_sealed();
}

std::optional<std::uint32_t> Gateway::share_threshold(const domain::Bytes32& context,
                                                      std::uint32_t) {
    return impl_->thresholds().find(context);
}

bool Gateway::announces_thresholds() const {
    return impl_->announces_thresholds();
}

bool Gateway::hears_answers() const {
    return impl_->hears_answers();
}

void Gateway::read_again(std::uint64_t block) {
    impl_->read_again(block);
}

void Gateway::watch(std::vector<domain::Block> blocks) {
    impl_->watch(blocks);
}

void Gateway::stop() {
    impl_->stop();
}

std::optional<std::string> Gateway::problem() const {
    return impl_->problem();
}

std::vector<engine::Dependency> Gateway::dependencies() const {
    return impl_->dependencies();
}

engine::ChainReadings Gateway::readings() const {
    return impl_->readings();
}

std::optional<engine::KeyMaterial> Gateway::current() const {
    return impl_->keys().current();
}

engine::Approvals::Terms Gateway::approval_terms(const std::string& signer) {
    SigningAccount* account = impl_->accounts().find(signer);
    if (account == nullptr) return no_such_signer(signer);
    return account->fee_approval().terms();
}

void Gateway::approve(const engine::ApprovalOrder& order,
                      std::function<void(const Outcome&)> reply) {
    SigningAccount* account = impl_->accounts().find(order.signer);
    if (account == nullptr) return reply(no_such_signer(order.signer));
    account->fee_approval().approve(order, reply);
}

engine::SignatureAnswer Gateway::ask(std::uint64_t host_chain_id, const domain::Address& account,
                                     const domain::Bytes32& digest, domain::ByteView signature) {
    return impl_->wallets().ask(host_chain_id, account, digest, signature);
}

}  // namespace chains::evm
