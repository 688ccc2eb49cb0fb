#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "engine/ordered_queue.hpp"

namespace engine {

// A queue in front of a gate. Plain: first come, first served. Fair: each client has a queue of its
// own and they take turns, so that one that asks a thousand times delays another that asks once by
// one turn. Who was here before stands before the rest of its queue. position() is the true place
// in either case; it costs O(log n), in a fair queue also O(clients that wait). One thread.
class FairQueue {
public:
    using Id = OrderedQueue::Id;
    using Client = std::int64_t;

    explicit FairQueue(bool fair = false) : fair_(fair) {}

    // False, and nothing changes, when the id is already here.
    bool push(Id id, Client client);
    // Same, one that was here before: behind others like it, and before the rest of its queue.
    bool push_again(Id id, Client client);
    // False when it was not here.
    bool remove(Id id);
    std::optional<Id> pop_front();
    void clear();

    // How many leave before it; nothing when it is not here.
    [[nodiscard]] std::optional<std::size_t> position(Id id) const;
    // How many would leave before one that this client adds now.
    [[nodiscard]] std::size_t position_of_next(Client client) const;
    // Whether this client has as many here as would be its share of `places`, were it one more of
    // those that wait. Everybody in a plain queue.
    [[nodiscard]] bool has_its_share(Client client, std::size_t places) const;
    [[nodiscard]] bool contains(Id id) const;
    [[nodiscard]] std::size_t size() const { return members_; }
    [[nodiscard]] bool empty() const { return size() == 0; }

private:
    // Of one client; of a plain queue there is one.
    class Own {
    public:
        OrderedQueue again;
        OrderedQueue rest;

        bool remove(Id id) { return again.remove(id) || rest.remove(id); }
        std::optional<Id> pop_front() {
            return again.empty() ? rest.pop_front() : again.pop_front();
        }
        [[nodiscard]] std::optional<std::size_t> position(Id id) const;
        [[nodiscard]] bool contains(Id id) const { return again.contains(id) || rest.contains(id); }
        [[nodiscard]] std::size_t size() const { return again.size() + rest.size(); }
    };

    bool push(Id id, Client client, OrderedQueue Own::*where);
    [[nodiscard]] Client client_of(Id id) const;
    // How many leave before the one at `index` of this client's own queue.
    [[nodiscard]] std::size_t before(Client client, std::size_t index) const;
    void leave(Client client);

    bool fair_;
    std::unordered_map<Client, Own> own_;     // never empty ones
    std::deque<Client> turns_;                // whose turn it is, then the next
    std::unordered_map<Id, Client> clients_;  // of a fair queue
    std::size_t members_ = 0;                 // of all own queues
};

}  // namespace engine
