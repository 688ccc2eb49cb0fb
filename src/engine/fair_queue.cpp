#include "engine/fair_queue.hpp"

#include <algorithm>
#include <cassert>

namespace engine {

std::optional<std::size_t> FairQueue::Own::position(Id id) const {
    if (const auto place = again.position(id)) return place;
    const auto place = rest.position(id);
    return place ? std::optional(again.size() + *place) : std::nullopt;
}

bool FairQueue::push(Id id, Client client) {
    return push(id, client, &Own::rest);
}

bool FairQueue::push_again(Id id, Client client) {
    return push(id, client, &Own::again);
}

bool FairQueue::push(Id id, Client client, OrderedQueue Own::*where) {
    if (contains(id)) return false;
    if (!fair_) client = 0;
    const auto [queue, is_new] = own_.try_emplace(client);
    (queue->second.*where).push_back(id);
    if (is_new) turns_.push_back(client);
    if (fair_) clients_.emplace(id, client);
    ++members_;
    assert(own_.size() == turns_.size());
    return true;
}

bool FairQueue::remove(Id id) {
    const Client client = client_of(id);
    const auto queue = own_.find(client);
    if (queue == own_.end() || !queue->second.remove(id)) return false;
    clients_.erase(id);
    --members_;
    if (queue->second.size() == 0) leave(client);
    return true;
}

std::optional<FairQueue::Id> FairQueue::pop_front() {
    if (turns_.empty()) return std::nullopt;
    const Client client = turns_.front();
    Own& queue = own_.at(client);
    const std::optional<Id> id = queue.pop_front();
    assert(id && members_ > 0);  // a queue that is empty has no turn
    clients_.erase(*id);
    --members_;
    if (queue.size() == 0) {
        leave(client);
    } else if (turns_.size() > 1) {
        turns_.pop_front();
        turns_.push_back(client);
    }
    return id;
}

void FairQueue::clear() {
    own_.clear();
    turns_.clear();
    clients_.clear();
    members_ = 0;
}

std::optional<std::size_t> FairQueue::position(Id id) const {
    const Client client = client_of(id);
    const auto queue = own_.find(client);
    if (queue == own_.end()) return std::nullopt;
    const auto index = queue->second.position(id);
    if (!index) return std::nullopt;
    return before(client, *index);
}

std::size_t FairQueue::position_of_next(Client client) const {
    if (!fair_) return size();
    const auto queue = own_.find(client);
    return before(client, queue == own_.end() ? 0 : queue->second.size());
}

bool FairQueue::has_its_share(Client client, std::size_t places) const {
    if (!fair_) return true;
    const auto queue = own_.find(client);
    const std::size_t own = queue == own_.end() ? 0 : queue->second.size();
    const std::size_t clients = own_.size() + (queue == own_.end() ? 1 : 0);
    return own >= places / clients;
}

bool FairQueue::contains(Id id) const {
    const auto queue = own_.find(client_of(id));
    return queue != own_.end() && queue->second.contains(id);
}

FairQueue::Client FairQueue::client_of(Id id) const {
    const auto known = clients_.find(id);
    return known == clients_.end() ? 0 : known->second;
}

std::size_t FairQueue::before(Client client, std::size_t index) const {
    std::size_t count = index;
    bool before_its_turn = true;
    for (const Client other : turns_) {
        if (other == client) {
            before_its_turn = false;
            continue;
        }
        count += std::min(own_.at(other).size(), before_its_turn ? index + 1 : index);
    }
    return count;
}

void FairQueue::leave(Client client) {
    own_.erase(client);
    const auto turn = std::find(turns_.begin(), turns_.end(), client);
    assert(turn != turns_.end());
    turns_.erase(turn);
    assert(own_.size() == turns_.size() && (!own_.empty() || members_ == 0));
}

}  // namespace engine
