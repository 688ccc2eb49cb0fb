#include "api/client_traffic.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace api {

namespace {

void add(SubmissionCounts& sums, const SubmissionCounts& counts) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums.at(i) += counts.at(i);
}

std::uint64_t weight_of(const ClientActivity& one) {
    return std::accumulate(one.last_hour.begin(), one.last_hour.end(), one.in_work);
}

}  // namespace

void ClientTraffic::count(std::int64_t client, Submission submission) {
    const std::int64_t number = number_now();
    const auto kind = static_cast<std::size_t>(submission);
    const std::lock_guard lock(mutex_);
    Counted& counted = clients_[client];
    if (client != 0 && counted.name.empty() && client_name_) counted.name = client_name_(client);
    Slot& slot = counted.recent.at(static_cast<std::size_t>(number) % slots);
    if (slot.number != number) slot = {number, {}};
    ++slot.counts.at(kind);
    ++counted.since_start.at(kind);
}

std::vector<ClientTraffic::OfClient> ClientTraffic::all() const {
    const std::int64_t first = number_now() + 1 - static_cast<std::int64_t>(slots);
    std::vector<OfClient> clients;
    const std::lock_guard lock(mutex_);
    for (const auto& [client, counted] : clients_) {
        OfClient& one = clients.emplace_back(OfClient{client, counted.since_start, {}});
        for (const Slot& slot : counted.recent) {
            if (slot.number < first) continue;
            add(one.last_hour, slot.counts);
        }
    }
    return clients;
}

std::string ClientTraffic::name_of(std::int64_t client) const {
    const std::lock_guard lock(mutex_);
    const auto found = clients_.find(client);
    return found == clients_.end() ? std::string() : found->second.name;
}

std::vector<ClientActivity> client_activity(const ClientTraffic* traffic,
                                            const std::map<std::int64_t, std::uint64_t>& in_work,
                                            const ClientTraffic::ClientName& client_name) {
    std::map<std::string, ClientActivity> by_name;
    const auto of = [&](std::int64_t client) -> ClientActivity& {
        std::string name = client == 0 ? std::string("-") : client_name(client);
        if (name.empty() && traffic != nullptr) name = traffic->name_of(client);
        if (name.empty()) name = "?";
        ClientActivity& one = by_name[name];
        one.name = std::move(name);
        return one;
    };
    for (const auto& [client, count] : in_work) of(client).in_work += count;
    if (traffic != nullptr) {
        for (const auto& counted : traffic->all()) {
            ClientActivity& one = of(counted.client);
            add(one.since_start, counted.since_start);
            add(one.last_hour, counted.last_hour);
        }
    }
    std::vector<ClientActivity> all;
    all.reserve(by_name.size());
    for (auto& [name, one] : by_name) all.push_back(std::move(one));
    std::ranges::stable_sort(all, std::ranges::greater{}, weight_of);
    return all;
}

std::int64_t ClientTraffic::number_now() const {
    using FiveMinutes = std::chrono::duration<std::int64_t, std::ratio<300>>;
    return std::chrono::floor<FiveMinutes>(clock_.monotonic().time_since_epoch()).count();
}

}  // namespace api
