#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/api_error.hpp"
#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/throttled_log.hpp"
#include "api/user_signature.hpp"
#include "domain/kind.hpp"
#include "domain/request.hpp"
#include "domain/request_id.hpp"
#include "net/http_message.hpp"

namespace api {

// One HTTP call of a relayer route.
struct Call {
    domain::Kind kind = domain::Kind::input_proof;
    std::string id;           // the requestId of its answer
    std::int64_t client = 0;  // id of the client's key; 0: nobody known
};

// POST and GET of the relayer's request kinds (relayer-api 1.3 to 1.11). Any thread; nothing here
// waits for a chain.
class RelayerRoutes {
public:
    RelayerRoutes(const Options& options, const Ports& ports);

    // Of a POST that Authenticator has let in: what a browser may have been made to send must say
    // that it is JSON (relayer-api 1.1). Nothing: the body may be read.
    [[nodiscard]] std::optional<ApiError> before_body(const net::HttpRequest& head,
                                                      const access::Pass& pass) const;
    // What Authenticator does not let in, and what it lets in later.
    [[nodiscard]] net::HttpResponse unauthorized_answer(std::string_view call_id) const;
    [[nodiscard]] net::HttpResponse limited_answer(std::string_view call_id,
                                                   std::uint32_t retry_after_seconds) const;
    // Refusals are answered at once, everything else after the commit; before it, if need be, the
    // contract at the user's address is asked.
    void submit(const Call& call, const net::HttpRequest& request, net::Respond respond);
    // `job_id` as it stands in the path. Answered at once, or when a client that wants to wait has
    // waited long enough or is gone.
    void poll(const Call& call, const net::HttpRequest& request, std::string_view job_id,
              const net::Respond& respond, const net::WhenGone& when_gone);
    [[nodiscard]] static net::HttpResponse unreadable(const Options& options,
                                                      net::HttpProblem problem,
                                                      std::string_view call_id);

private:
    void enter_signed(const Call& call, const domain::Request& request,
                      const engine::SubmitOptions& submit_options,
                      const engine::SignatureAnswer& signature, net::Respond respond);
    void enter(const Call& call, const domain::Request& request,
               const engine::SubmitOptions& submit_options, net::Respond respond);
    [[nodiscard]] net::HttpResponse answer(const Call& call, const engine::AcceptOutcome& outcome);
    [[nodiscard]] net::HttpResponse accepted(const Call& call, const engine::Accepted& accepted);
    // Of a poll that waits; 0: it has none yet.
    struct WaitingPoll {
        std::atomic<LongPolls::Ticket> ticket{0};
        std::atomic<bool> gone{false};
    };
    void stop_waiting(WaitingPoll& waiting);
    void wait_for_end(const Call& call, const domain::RequestId& id, std::chrono::seconds wait,
                      const net::Respond& respond, const net::WhenGone& when_gone);
    [[nodiscard]] engine::FindOutcome look_up(domain::Kind kind, const domain::RequestId& id);
    [[nodiscard]] net::HttpResponse answer(const Call& call, const engine::FindOutcome& outcome);
    [[nodiscard]] std::optional<ApiError> check_host_chains(const domain::Request& request) const;
    [[nodiscard]] std::optional<ApiError> signature_problem(const engine::SignatureAnswer& answer,
                                                            std::string_view call_id);
    [[nodiscard]] net::HttpResponse refuse(const ApiError& api_error, std::string_view call_id,
                                           std::uint32_t retry_after_seconds = 0) const;

    const Options options_;
    engine::Submitter& submitter_;
    engine::RequestReader& request_reader_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    LongPolls& long_polls_;
    HttpObserver& observer_;
    ThrottledLog submit_errors_{"intake_unavailable", logger_, clock_};
    ThrottledLog find_errors_{"inquiry_failed", logger_, clock_};
    ThrottledLog signature_errors_{"signature_check_failed", logger_, clock_};
    // Last: what it still does when all this ends answers through the rest.
    UserSignatures signatures_;
};

}  // namespace api
