#include "chains/loopback/gateway.hpp"

#include <cassert>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/sanitize.hpp"
#include "chains/loopback/transaction.hpp"
#include "engine/key_urls.hpp"

namespace chains::loopback {
namespace {

constexpr const char* outage_text = "the loopback chain is down by its configuration";

Options checked(Options options) {
    if (const auto problem = problem_of(options)) {
        throw std::invalid_argument("loopback gateway: " + *problem);
    }
    return options;
}

std::map<domain::Bytes32, domain::Timestamp> by_id(const std::vector<KnownRound>& rounds) {
    std::map<domain::Bytes32, domain::Timestamp> map;
    for (const KnownRound& round : rounds) map.insert_or_assign(round.id, round.vote_end);
    return map;
}

// Groups orders by the latency `draw` gives each of them.
template <typename Order, typename Draw>
std::map<domain::Milliseconds, std::vector<Order>> by_latency(std::vector<Order> orders,
                                                              Draw draw) {
    std::map<domain::Milliseconds, std::vector<Order>> groups;
    for (Order& order : orders) groups[draw(order)].push_back(std::move(order));
    return groups;
}

}  // namespace

Gateway::Gateway(Options options, ports::Clock& clock, ports::Executor& executor,
                 ports::Logger& logger)
    : options_(checked(std::move(options))),
      logger_(logger),
      ledger_(options_.ledger, options_.ledger_synchronous, clock.wall()),
      random_(options_.seed, ledger_.run()),
      outages_(options_.outages, clock),
      answers_(options_, random_),
      readiness_(options_, random_),
      preparation_(options_, random_),
      miner_(options_, random_, answers_, ledger_, clock, logger),
      rounds_(by_id(options_.rounds)),
      next_nonce_(ledger_.first_nonce()),
      task_group_(executor),
      outbox_(options_, ledger_, answers_, outages_, task_group_, clock, logger) {
    logger_.write(ports::LogLevel::info, "loopback_opened seed=" + std::to_string(options_.seed) +
                                             " run=" + std::to_string(ledger_.run()) +
                                             " next_nonce=" + std::to_string(next_nonce_.load()));
}

Gateway::~Gateway() {
    task_group_.stop();
}

void Gateway::listen(engine::GatewayEvents& events, const engine::Resume& resume) {
    assert(events_ == nullptr);
    events_ = &events;
    outbox_.listen(events, resume.cursor(std::string{engine::only_listener}));
}

void Gateway::check(std::vector<engine::CheckOrder> orders) {
    assert(events_ != nullptr);
    auto groups = by_latency(std::move(orders), [this](const engine::CheckOrder&) {
        return random_.draw(options_.readiness);
    });
    for (auto& [latency, group] : groups) {
        task_group_.run_after(latency, [this, group = std::move(group)] {
            const bool down = outages_.down();
            std::vector<engine::Checked> events;
            events.reserve(group.size());
            for (const engine::CheckOrder& order : group) {
                events.push_back(
                    {order.id, down ? engine::unreached(outage_text) : readiness_.check(order)});
            }
            events_.load()->checked(std::move(events));
        });
    }
}

void Gateway::prepare(std::vector<engine::PrepareOrder> orders) {
    assert(events_ != nullptr);
    auto groups = by_latency(std::move(orders), [this](const engine::PrepareOrder& order) {
        const bool share = domain::kind_of(*order.request) == domain::Kind::share;
        return random_.draw(share ? options_.proof : options_.prepare);
    });
    for (auto& [latency, group] : groups) {
        task_group_.run_after(latency, [this, group = std::move(group)] {
            const bool down = outages_.down();
            std::vector<engine::Prepared> events;
            events.reserve(group.size());
            for (const engine::PrepareOrder& order : group) {
                events.push_back({order.id, down ? engine::unreached(outage_text)
                                                 : preparation_.prepare(order)});
            }
            events_.load()->prepared(std::move(events));
        });
    }
}

void Gateway::send(std::vector<engine::SendOrder> orders) {
    assert(events_ != nullptr);
    if (orders.empty()) return;
    bool first = false;
    {
        const std::lock_guard lock{mutex_};
        first = arrived_.empty();
        std::move(orders.begin(), orders.end(), std::back_inserter(arrived_));
    }
    if (first) task_group_.run_after(domain::Milliseconds{0}, [this] { include_arrived(); });
}

engine::Sealed Gateway::seal(const domain::RequestId&, domain::Kind, const engine::Plan& plan) {
    engine::Sealed sealed;
    sealed.nonce = next_nonce_.fetch_add(1);
    Salt salt{};
    for (std::size_t at = 0; at < salt.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t number = random_.next_number(Purpose::salt);
        for (std::size_t byte = 0; byte < sizeof number; ++byte, number >>= 8U) {
            salt[at + byte] = static_cast<std::uint8_t>(number);
        }
    }
    sealed.bytes = loopback::seal(plan.bytes, sealed.nonce, salt);
    sealed.hash = domain::sha256(sealed.bytes);
    return sealed;
}

void Gateway::stop() {
    task_group_.stop();
}

std::optional<std::string> Gateway::problem() const {
    if (outages_.down()) return outage_text;
    {
        const std::lock_guard lock{mutex_};
        if (problem_) return "the loopback ledger can not be written: " + *problem_;
    }
    if (const auto held = outbox_.problem()) {
        return "the loopback ledger can not deliver answers: " + *held;
    }
    return std::nullopt;
}

std::vector<engine::Dependency> Gateway::dependencies() const {
    // One chain in one process: who can not send to it does not hear from it either.
    const bool ok = !problem();
    return {{"gateway_http", ok}, {"gateway_listener_0", ok}};
}

engine::RoundAnswer Gateway::find(const domain::Bytes32& round_id) {
    if (outages_.down()) return engine::Unreachable{outage_text};
    if (rounds_.empty()) return engine::Round{options_.rounds_end};
    const auto round = rounds_.find(round_id);
    if (round == rounds_.end()) return engine::UnknownRound{};
    return engine::Round{round->second};
}

std::optional<engine::KeyMaterial> Gateway::current() const {
    return engine::stored_at(options_.storage_url, options_.storage_prefix, options_.key_id,
                             options_.crs_id);
}

std::uint64_t Gateway::inclusions() {
    return ledger_.inclusions();
}

std::uint64_t Gateway::double_inclusions() {
    return ledger_.double_inclusions();
}

void Gateway::include_arrived() {
    Mined mined = mine(take_arrived());
    outbox_.expect(mined.upcoming);
    if (mined.answers_early) outbox_.deliver();
    reply(std::move(mined.replies));
    if (mined.answers_placed) outbox_.deliver();
}

std::vector<engine::SendOrder> Gateway::take_arrived() {
    const std::lock_guard lock{mutex_};
    return std::exchange(arrived_, {});
}

Mined Gateway::mine(const std::vector<engine::SendOrder>& orders) {
    if (outages_.down()) return unreachable(orders, outage_text);
    try {
        Mined mined = miner_.mine(orders);
        note_problem(std::nullopt);
        return mined;
    } catch (const std::exception& error) {
        note_problem(error.what());
        return unreachable(orders, "the loopback ledger can not be written");
    }
}

Mined Gateway::unreachable(const std::vector<engine::SendOrder>& orders,
                           const std::string& reason) {
    Mined mined;
    for (const engine::SendOrder& order : orders) {
        mined.replies.push_back(
            {random_.draw(options_.confirmation), {order.id, engine::Unreachable{reason}}});
    }
    return mined;
}

void Gateway::reply(std::vector<DelayedReply> replies) {
    auto groups =
        by_latency(std::move(replies), [](const DelayedReply& reply) { return reply.delay; });
    for (auto& [latency, group] : groups) {
        std::vector<engine::Sent> events;
        events.reserve(group.size());
        for (DelayedReply& delayed : group) events.push_back(std::move(delayed.sent));
        if (latency == domain::Milliseconds{0}) {
            reply_now(std::move(events));
        } else {
            task_group_.run_after(latency,
                                  [this, events = std::move(events)] { reply_now(events); });
        }
    }
}

void Gateway::reply_now(std::vector<engine::Sent> events) {
    // Receipts that the outage overtook are lost; the ledger has them.
    if (outages_.down()) {
        for (engine::Sent& event : events) event.outcome = engine::Unreachable{outage_text};
    }
    events_.load()->sent(std::move(events));
}

void Gateway::note_problem(std::optional<std::string> problem) {
    const std::lock_guard lock{mutex_};
    if (problem && !problem_) {
        logger_.write(ports::LogLevel::error,
                      "loopback_ledger_failed error=" + base::log_value(*problem));
    }
    problem_ = std::move(problem);
}

}  // namespace chains::loopback
