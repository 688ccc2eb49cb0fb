#pragma once

#include "engine/context.hpp"

// Gate 1 of decrypts: `queued` until the chain says that the ciphertext may and can be decrypted
// (relayer-api 4.3).
namespace engine::readiness {

// As many checks as there are permits.
void start(Context& context);

void apply(Context& context, const Checked& event);

// A queued decrypt whose pause or lease is over.
void wake(Context& context, const store::Row& row);

}  // namespace engine::readiness
