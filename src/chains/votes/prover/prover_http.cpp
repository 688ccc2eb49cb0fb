#include "chains/votes/prover/prover_http.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <stdexcept>

#include "chains/jsonrpc/retry_after.hpp"
#include "chains/votes/prover/prover_protocol.hpp"

namespace chains::votes::prover {
namespace {

using Kind = net::TransportError::Kind;
using Headers = std::vector<std::pair<std::string, std::string>>;

Headers headers_of(const std::string& token) {
    if (token.empty()) return {};
    const bool is_visible = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
    if (!is_visible) throw std::invalid_argument("prover token is not printable ASCII");
    return {{"Authorization", "Bearer " + token}};
}

net::Url url_of(const ProverOptions& options) {
    auto url = net::parse_url(options.url);
    if (!url || url->websocket) throw std::invalid_argument("prover url is no http or https URL");
    return std::move(*url);
}

// The service did not get to prove, or it is none: a wrong token or path is no share's fault.
bool is_unavailable(int status) {
    constexpr std::array statuses{401, 403, 404, 429, 502, 503, 504};
    return std::ranges::find(statuses, status) != statuses.end();
}

// Nobody here knows the time: a date counts as the shortest wait.
domain::Milliseconds hold_of(const net::ClientResponse& response) {
    using namespace std::chrono;
    constexpr domain::Timestamp behind_all_dates = sys_days{year{10'000} / January / 1};
    if (!response.retry_after) return domain::Milliseconds{0};
    return jsonrpc::throttle_wait(response.retry_after, behind_all_dates);
}

ProveOutcome judge(const net::TransportError& problem, std::span<const std::string>) {
    if (problem.kind == Kind::timed_out || problem.kind == Kind::garbled) {
        return NotProved{"prover service: " + problem.text};
    }
    if (problem.kind == Kind::stopped) return engine::Unreachable{"stopped"};
    return engine::Unreachable{"prover service: " + problem.text};
}

ProveOutcome judge(const net::ClientResponse& response, std::span<const std::string> secrets) {
    const std::string status = "prover service answered HTTP " + std::to_string(response.status);
    if (is_unavailable(response.status)) {
        engine::Unreachable away{status};
        away.hold = hold_of(response);
        return away;
    }
    ProverAnswer answer = read_json_answer(response.body);
    if (const auto* const error = std::get_if<ProverError>(&answer)) {
        return NotProved{describe(*error, secrets)};
    }
    if (response.status != 200) return NotProved{status};
    if (const auto* const malformed = std::get_if<Malformed>(&answer)) {
        return NotProved{describe(*malformed)};
    }
    return std::get<Proof>(std::move(answer));
}

}  // namespace

HttpProver::HttpProver(const ProverOptions& options)
    : fields_(headers_of(options.token)),
      timeout_(options.timeout),
      client_(url_of(options), answer_bytes_max, options.client_context),
      secrets_(net::with_token(client_.secrets(), options.token)) {}

ProveOutcome HttpProver::prove(const Witness& witness) {
    ProveOutcome outcome = ask(witness);
    note(outcome);
    return outcome;
}

std::optional<std::string> HttpProver::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

ProveOutcome HttpProver::ask(const Witness& witness) {
    const Secret body = json_request(witness);
    const net::ClientRequest request{.method = "POST",
                                     .target = {},
                                     .body = body.view(),
                                     .headers = fields_,
                                     .repeatable = true};
    const net::ClientResult result = client_.exchange(request, timeout_);
    if (client_.is_stopped()) return engine::Unreachable{"stopped"};
    return std::visit([this](const auto& outcome) { return judge(outcome, secrets_); }, result);
}

void HttpProver::note(const ProveOutcome& outcome) {
    if (client_.is_stopped()) return;
    const std::lock_guard lock(mutex_);
    problem_.reset();
    if (const auto* const failed = std::get_if<NotProved>(&outcome)) problem_ = failed->text;
    if (const auto* const away = std::get_if<engine::Unreachable>(&outcome)) {
        problem_ = away->reason;
    }
}

}  // namespace chains::votes::prover
