#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

#include "bench/anvil.hpp"
#include "bench/bodies.hpp"
#include "bench/options.hpp"
#include "bench/posthouse.hpp"
#include "bench/vote_chain.hpp"

namespace bench {

// What nodes of a cluster, or a machine alone, work for: the loopback is refused there.
class ClusterChains {
public:
    // `leaves`: of the vote chain's round.
    ClusterChains(const Options& options, const std::filesystem::path& directory, const Body& share,
                  std::uint64_t leaves = 1);

    [[nodiscard]] Settings settings() const;
    [[nodiscard]] VoteChain::Reveals reveals() const { return votes_.reveals(); }

private:
    const Anvil anvil_;
    const VoteChain votes_;
};

// Three nodes that share a book; the first one owns it.
class ClusterNodes {
public:
    struct Book {
        std::string name;
        std::string database;             // for libpq
        std::filesystem::path directory;  // of the nodes
        Settings settings;                // of each of them
        bool is_seeded = false;           // the first one's data directory holds a file already
    };

    // Where the first one keeps its data, also before there is a node.
    [[nodiscard]] static std::filesystem::path first_place(const std::filesystem::path& directory);

    // Makes the book, and returns when two nodes follow the first.
    ClusterNodes(const Options& options, const Book& book);

    [[nodiscard]] const Posthouse& owner() const { return nodes_.front(); }
    [[nodiscard]] const Posthouse& follower() const { return nodes_.back(); }

    // Throws unless each node's file has all requests soon, and that they are so many at least;
    // then all nodes are killed.
    void end(std::uint64_t requests);

private:
    const std::filesystem::path directory_;
    std::deque<Posthouse> nodes_;
};

}  // namespace bench
