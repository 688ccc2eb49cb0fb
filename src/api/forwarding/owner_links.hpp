#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/database.hpp"
#include "net/client.hpp"

namespace api::forwarding {

// The same process behind the same address: whoever raises its own epoch stays who it is.
[[nodiscard]] bool is_same_owner(const cluster::Owner& one, const cluster::Owner& other);

struct LinkOptions {
    std::string ca_file{};
    std::size_t answer_bytes_max = 0;
    std::size_t idle_max = 0;  // connections that are kept for later requests
};

// The connections to the owner of the book. When another one has taken it, those to the one before
// are its former links. Any thread.
class OwnerLinks {
public:
    OwnerLinks(std::shared_ptr<net::ClientContext> context, LinkOptions options);
    OwnerLinks(const OwnerLinks&) = delete;
    OwnerLinks& operator=(const OwnerLinks&) = delete;
    ~OwnerLinks();  // ends all

    // Never blocks. A text: why there are none, without secrets.
    [[nodiscard]] std::variant<std::shared_ptr<net::Client>, std::string> to(
        const cluster::Owner& owner);
    // Exchanges with whoever is not `owner` end as stopped. Returns when they have; not from the
    // `done` of one.
    void end_all_but(const cluster::Owner& owner);
    // All exchanges end likewise, and there are no links any more.
    void end_all();

private:
    struct Link {
        cluster::Owner owner;
        std::shared_ptr<net::Client> client;
    };

    const std::shared_ptr<net::ClientContext> context_;
    const LinkOptions options_;

    std::mutex mutex_;  // for what follows
    std::vector<Link> links_;
    bool ended_ = false;
};

}  // namespace api::forwarding
