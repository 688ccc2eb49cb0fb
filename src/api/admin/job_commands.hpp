#pragma once

#include <string_view>
#include <vector>

#include "api/admin/admin_route.hpp"
#include "api/user_signature.hpp"
#include "domain/bytes.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/instructions.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "store/job_reader.hpp"

namespace api::admin {

// POST /admin/jobs/ID/retry and /cancel: an operator steers one request. What the signature of a
// user allows is looked at anew before its request is asked again. Any thread; nothing here waits
// for a chain. Everything it is given outlives it.
class JobCommands {
public:
    struct Parts {
        engine::Instructed& engine;
        store::JobReader& reader;
        engine::ContractSignatures& contracts;
        ports::Executor& contract_lookups;  // where they are asked (Lookups)
        const ports::Clock& clock;
        domain::Address decryption_address{};  // Options::decryption_address
        bool with_shares = false;              // otherwise no share is known here
    };
    explicit JobCommands(const Parts& parts)
        : parts_(parts),
          signatures_(parts.decryption_address, parts.contracts, parts.contract_lookups,
                      parts.clock) {}

    [[nodiscard]] std::vector<AdminRoute> routes();

private:
    void retry(const net::HttpRequest& request, const net::Respond& respond);
    void cancel(const net::HttpRequest& request, const net::Respond& respond);
    void ask_anew(const engine::Retry& order, const net::Respond& respond);

    const Parts parts_;
    // Last: what it still does when all this ends works with the rest.
    UserSignatures signatures_;
};

}  // namespace api::admin
