#pragma once

#include <string_view>
#include <vector>

#include "api/admin/admin_route.hpp"
#include "domain/bytes.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/instructions.hpp"
#include "ports/clock.hpp"
#include "store/job_reader.hpp"

namespace api::admin {

// POST /admin/jobs/ID/retry and /cancel: an operator steers one request. What the signature of a
// user allows is looked at anew before its request is asked again. Any thread; may block for as
// long as a look at a contract takes. Everything it is given outlives it.
class JobCommands {
public:
    struct Parts {
        engine::Instructed& engine;
        store::JobReader& reader;
        engine::ContractSignatures& contracts;
        const ports::Clock& clock;
        domain::Address decryption_address{};  // Options::decryption_address
        bool with_shares = false;              // otherwise no share is known here
    };
    explicit JobCommands(const Parts& parts) : parts_(parts) {}

    [[nodiscard]] std::vector<AdminRoute> routes();

private:
    void retry(const net::HttpRequest& request, const net::Respond& respond);
    void cancel(const net::HttpRequest& request, const net::Respond& respond);

    const Parts parts_;
};

}  // namespace api::admin
