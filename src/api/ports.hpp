#pragma once

#include "api/access/gatekeeper.hpp"
#include "api/http_observer.hpp"
#include "api/long_polls.hpp"
#include "engine/clock.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/gateway.hpp"
#include "engine/health.hpp"
#include "engine/inquiry.hpp"
#include "engine/intake.hpp"
#include "engine/journal.hpp"
#include "engine/key_material.hpp"
#include "engine/random.hpp"

namespace api {

// What the application works with; all of it outlives the application.
struct Ports {
    engine::Intake& intake;
    engine::Inquiry& inquiry;
    engine::RoundDirectory& rounds;
    engine::ContractSignatures& contracts;
    engine::Health& health;
    engine::KeyDirectory& keys;
    engine::Clock& clock;
    engine::Random& random;
    engine::Journal& journal;
    LongPolls& long_polls;
    HttpObserver& observer;
    Gatekeeper& gatekeeper;
};

}  // namespace api
