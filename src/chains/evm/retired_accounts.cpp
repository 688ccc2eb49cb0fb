#include "chains/evm/retired_accounts.hpp"

#include <cassert>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/sanitize.hpp"
#include "chains/evm/account.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

void RetiredAccounts::start(engine::GatewayEvents& events, const engine::Resume& resume) {
    assert(events_ == nullptr);
    events_ = &events;
    if (resume.nonces.empty()) return;
    known_ = Known{resume.look_from, resume.nonces, {}};
    for (const engine::Sealed& sealed : resume.in_flight) known_->unsettled.insert(sealed.account);
    for (const store::UsedNonce& used : resume.used) known_->unsettled.insert(used.account);
}

void RetiredAccounts::find(const std::set<std::string>& configured) {
    const std::lock_guard lock{mutex_};
    const std::optional<Known> known = std::exchange(known_, std::nullopt);
    if (!known) return;
    for (const auto& [account, nonce] : known->nonces) {
        if (configured.contains(account)) continue;
        engine::Resume part;
        part.look_from = known->look_from;
        part.nonces = {{account, nonce}};
        auto retired = std::make_unique<Retired>(shared_, account);
        retired->check.start(*events_, part, !known->unsettled.contains(account));
        accounts_.emplace(account, std::move(retired));
    }
}

void RetiredAccounts::refresh(const std::set<std::string>& configured) {
    find(configured);
    if (!shared_.on_right_chain()) return;
    std::vector<std::pair<std::string, Retired*>> waiting;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [account, retired] : accounts_) {
            if (retired->check.is_waiting()) waiting.emplace_back(account, retired.get());
        }
    }
    for (const auto& [account, retired] : waiting) ask_count(account, *retired);
}

void RetiredAccounts::ask_count(const std::string& account, Retired& retired) {
    domain::Address address{};
    if (!domain::from_hex(std::string_view(account).substr(2), address)) return;
    const auto answer = transaction_count(shared_.write, address);
    if (const auto* count = std::get_if<std::uint64_t>(&answer)) {
        retired.check.found(address, *count);
        return;
    }
    if (retired.told.exchange(true)) return;
    retired.lines.write(ports::LogLevel::warning,
                        "account_check_waits action=\"nothing is signed before\" error=" +
                            base::log_value(std::get<engine::Unreachable>(answer).reason));
}

std::optional<engine::Unreachable> RetiredAccounts::unsettled() const {
    const std::lock_guard lock{mutex_};
    if (known_) return engine::unreached("no node has told the count of the account yet");
    for (const auto& [account, retired] : accounts_) {
        if (auto unready = retired->check.unready()) return unready;
    }
    return std::nullopt;
}

}  // namespace chains::evm
