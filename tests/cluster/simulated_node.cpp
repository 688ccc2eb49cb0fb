#include "cluster/simulated_node.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "cluster/chain.hpp"
#include "cluster/migration.hpp"
#include "store/database.hpp"
#include "store/digest.hpp"

namespace cluster_test {

namespace {

const std::string book = "main";

domain::Bytes32 shared_secret() {
    domain::Bytes32 secret{};
    secret.fill(0x5a);
    return secret;
}

}  // namespace

SimulatedNode::SimulatedNode(char name, support::VirtualClock& clock,
                             support::SimulatedServer& server, MakeWork make_work,
                             std::uint64_t seed)
    : name_(name),
      clock_(clock),
      server_(server),
      make_work_(std::move(make_work)),
      random_(seed),
      keys_(shared_secret()) {
    file_.directory = directory_.path() / "data";
    store::join_book(file_, {book, 0, 0, 0, genesis});
    start();
}

SimulatedNode::~SimulatedNode() {
    kill();
}

std::int64_t SimulatedNode::seq() const {
    return static_cast<std::int64_t>(store::stored_position(file_).value().position.seq);
}

domain::Bytes32 SimulatedNode::digest() const {
    return store::digest_of_rows(file_);
}

cluster::Obstacle SimulatedNode::obstacle() const {
    return replica_ ? replica_->obstacle() : cluster::Obstacle::none;
}

void SimulatedNode::start() {
    if (is_up_) return;
    is_up_ = true;
    is_frozen_ = false;
    random_.fill(instance_);
    connection_.emplace(server_, book);
    open_replica();
}

void SimulatedNode::kill() {
    owner_.reset();
    succession_.reset();
    replica_.reset();
    follower_.reset();
    connection_.reset();
    is_up_ = false;
}

std::uint32_t SimulatedNode::schema() const {
    return static_cast<std::uint32_t>(store::newest_schema(file_));
}

void SimulatedNode::open_replica() {
    follower_ = std::make_unique<store::Follower>(file_);
    replica_ = std::make_unique<cluster::Replica>(
        cluster::Replica::Parts{*connection_, keys_, *follower_, clock_, log_},
        cluster::Replica::Options{lease_, std::string(1, name_), schema()});
    succession_ = std::make_unique<cluster::Succession>(
        cluster::Succession::Parts{*connection_, *replica_, clock_, log_},
        cluster::Succession::Options{{std::string(1, name_), instance_, "https://n"}, lease_});
    next_look_ = clock_.monotonic();
}

void SimulatedNode::step() {
    if (!is_up_ || is_frozen_) return;
    if (owner_) {
        own();
    } else if (clock_.monotonic() >= next_look_) {
        follow();
    }
}

void SimulatedNode::follow() {
    next_look_ = clock_.monotonic() + succession_->step();
    if (const auto won = succession_->won()) begin_ownership(*won);
}

// What a start writes is decided like anything else, and may be lost like that.
void SimulatedNode::begin_ownership(const cluster::Succession::Won& won) {
    const store::JournalPosition position = follower_->position();
    succession_.reset();
    replica_.reset();
    follower_.reset();
    try {
        owner_ = std::make_unique<Owning>(*this, won.epoch, won.sent, position);
    } catch (const store::OwnershipLost&) {
        open_replica();
    } catch (const store::StorageError&) {
        open_replica();
    }
}

SimulatedNode::Owning::Owning(SimulatedNode& node, std::int64_t epoch, domain::Monotonic sent,
                              const store::JournalPosition& position)
    : lease(node.clock_, node.lease_, epoch, sent),
      lease_connection(node.server_, book),
      keeper(lease_connection, lease, node.lease_,
             {std::string(1, node.name_), node.instance_, "https://n"}, node.clock_, node.log_),
      writer({*node.connection_, node.keys_, lease, node.random_, node.clock_, node.log_,
              [&node] {
                  return cluster::EntryTimes{node.clock_.wall(), node.clock_.wall()};
              },
              [&node](domain::Milliseconds time) { node.clock_.advance(time); }},
             {{std::string(1, node.name_), node.instance_, "https://n"},
              cluster::Durability::standby,
              node.schema(),
              node.lease_},
             position) {
    cluster::bring_to_newest_schema(node.file_, writer);
    work = node.make_work_({node.file_, writer, lease, *node.connection_, node.keys_, position,
                            epoch, node.clock_, node.random_, node.log_});
}

void SimulatedNode::own() {
    if (clock_.monotonic() >= owner_->renew_at) {
        const domain::Milliseconds again = owner_->keeper.step(owner_->writer.stable());
        owner_->renew_at = clock_.monotonic() + again;
    }
    if (!owner_->lease.is_held() && !ignores_lease_) {
        end_ownership();
        return;
    }
    if (is_resting_) return;
    try {
        owner_->work->step();
    } catch (const store::OwnershipLost&) {
        end_ownership();
    } catch (const store::StorageError&) {
        // Not decided: the next step tries again.
    }
}

void SimulatedNode::end_ownership() {
    owner_.reset();
    open_replica();
}

}  // namespace cluster_test
