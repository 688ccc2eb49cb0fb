#pragma once

#include "api/access/authenticator.hpp"
#include "api/http_observer.hpp"
#include "api/long_polls.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/health.hpp"
#include "engine/key_material.hpp"
#include "engine/request_reader.hpp"
#include "engine/submitter.hpp"
#include "engine/vote_chain.hpp"
#include "engine/vote_queue.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"

namespace cluster {
class NodeView;
}

namespace api {

// What the application works with; all of it outlives the application.
struct Ports {
    engine::Submitter& submitter;
    engine::RequestReader& request_reader;
    engine::VoteChain votes;
    engine::ContractSignatures& contracts;
    engine::Health& health;
    engine::KeyDirectory& keys;
    ports::Clock& clock;
    ports::Random& random;
    ports::Logger& logger;
    LongPolls& long_polls;
    HttpObserver& observer;
    access::Authenticator& authenticator;
    // Where the vote chain is asked, so that no HTTP worker waits for it: for shares that come in,
    // and for who asks about some. Two, so that neither keeps the other waiting. They may still
    // hold tasks of the application when that is gone, and run or drop them: they do nothing then.
    // The end of the application waits for the ones that run.
    ports::Executor& share_lookups;
    ports::Executor& share_queries;
    // Where the newest tree is read, which nobody waits for long.
    ports::Executor& tree_queries;
    // The same for host chains: where contracts are asked about signatures.
    ports::Executor& contract_lookups;
    // Nothing: /queue-status is 503 when it is served at all.
    engine::VoteQueue* queue = nullptr;
    // Of a cluster; nothing: a single machine.
    const cluster::NodeView* node = nullptr;
};

}  // namespace api
