#include "commands/outgoing.hpp"

#include <memory>

#include "net/client_context.hpp"

namespace commands {

void share_client_context(config::Settings& settings) {
    const auto context = std::make_shared<net::ClientContext>(settings.proxies);
    settings.evm.client_context = context;
    settings.votes.client_context = context;
    settings.votes.prover.client_context = context;
    settings.webhook.client_context = context;
}

}  // namespace commands
