#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/database.hpp"
#include "cluster/journal_writer.hpp"
#include "cluster/replica.hpp"
#include "domain/time.hpp"

namespace cluster {

enum class Role { follower, owner };

[[nodiscard]] constexpr std::string_view to_string(Role role) {
    return role == Role::owner ? "owner" : "follower";
}

// What a node knows of its book at a moment.
struct NodeState {
    Role role = Role::follower;
    std::string book;
    std::string node;  // its own name
    // Who owns the book, as it was read last; without a place where it is reached: nobody does.
    std::optional<Owner> owner{};
    std::int64_t seq = 0;                           // the last entry in its own file
    std::int64_t behind = 0;                        // stable entries it lacks
    std::optional<domain::Timestamp> last_entry{};  // the owner's clock when it decided that one
    // Whether the database has answered lately; why it has not, in one line without secrets.
    bool reaches_database = false;
    std::string database_problem{};
    std::string disk_problem{};  // of its own file; empty: it is well
    // Why the node does not go on by itself.
    Obstacle obstacle = Obstacle::none;
    std::string reason{};
    JournalReadings journal{};    // of an owner; `one_disk` also of a follower that can not be one
    std::uint64_t takeovers = 0;  // by this node, since its program was started first
};

// Port: what answers for a node. Any thread; never blocks.
class NodeView {
public:
    virtual ~NodeView() = default;

    [[nodiscard]] virtual NodeState state() const = 0;
    // Whether what was just read from the file may be told: the lease is held. False for followers.
    [[nodiscard]] virtual bool may_answer() const = 0;
};

}  // namespace cluster
