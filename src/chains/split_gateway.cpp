#include "chains/split_gateway.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace chains {
namespace {

// Takes the orders of vote shares out of `orders`, both keep their sequence.
template <typename Order, typename IsShare>
std::vector<Order> take_shares(std::vector<Order>& orders, IsShare is_share) {
    const auto first_share = std::stable_partition(
        orders.begin(), orders.end(), [&](const Order& order) { return !is_share(order); });
    std::vector<Order> shares(std::make_move_iterator(first_share),
                              std::make_move_iterator(orders.end()));
    orders.erase(first_share, orders.end());
    return shares;
}

}  // namespace

void SplitGateway::listen(engine::GatewayEvents& events, const engine::Resume& resume) {
    relayer_.listen(events, resume);
    votes_.listen(events, {});
}

void SplitGateway::check(std::vector<engine::CheckOrder> orders) {
    relayer_.check(std::move(orders));
}

void SplitGateway::prepare(std::vector<engine::PrepareOrder> orders) {
    auto shares = take_shares(orders, [](const engine::PrepareOrder& order) {
        return domain::kind_of(*order.request) == domain::Kind::share;
    });
    if (!orders.empty()) relayer_.prepare(std::move(orders));
    if (!shares.empty()) votes_.prepare(std::move(shares));
}

void SplitGateway::send(std::vector<engine::SendOrder> orders) {
    auto shares = take_shares(
        orders, [](const engine::SendOrder& order) { return order.kind == domain::Kind::share; });
    if (!orders.empty()) relayer_.send(std::move(orders));
    if (!shares.empty()) votes_.send(std::move(shares));
}

void SplitGateway::confirm(std::vector<engine::ConfirmOrder> orders) {
    votes_.confirm(std::move(orders));
}

engine::Sealed SplitGateway::seal(const domain::RequestId& id, domain::Kind kind,
                                  const engine::Plan& plan) {
    return of(kind).seal(id, kind, plan);
}

std::optional<std::uint64_t> SplitGateway::fetch_seal(const domain::RequestId& id,
                                                      domain::Kind kind, const engine::Plan& plan) {
    return of(kind).fetch_seal(id, kind, plan);
}

// Shares are signed at once: what is fetched is the relayer's.
void SplitGateway::end_seal(std::uint64_t ticket, bool stored) {
    relayer_.end_seal(ticket, stored);
}

void SplitGateway::keep_sealed() {
    relayer_.keep_sealed();
    votes_.keep_sealed();
}

void SplitGateway::undo_sealed() {
    relayer_.undo_sealed();
    votes_.undo_sealed();
}

std::optional<std::uint32_t> SplitGateway::share_threshold(const domain::Bytes32& context,
                                                           std::uint32_t configured) {
    return relayer_.share_threshold(context, configured);
}

bool SplitGateway::announces_thresholds() const {
    return relayer_.announces_thresholds();
}

void SplitGateway::read_again(std::uint64_t block) {
    relayer_.read_again(block);
}

void SplitGateway::watch(std::vector<domain::Block> blocks) {
    relayer_.watch(std::move(blocks));  // no share rests on a block
}

void SplitGateway::wind_down() {
    relayer_.wind_down();
    votes_.wind_down();
}

void SplitGateway::stop() {
    relayer_.stop();
    votes_.stop();
}

std::optional<std::string> SplitGateway::problem() const {
    if (auto problem = relayer_.problem()) return problem;
    return votes_.problem();
}

std::vector<engine::Dependency> SplitGateway::dependencies() const {
    std::vector<engine::Dependency> all = relayer_.dependencies();
    std::ranges::move(votes_.dependencies(), std::back_inserter(all));
    return all;
}

engine::ChainReadings SplitGateway::readings() const {
    return relayer_.readings();
}

}  // namespace chains
