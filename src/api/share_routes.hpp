#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "api/access/gatekeeper.hpp"
#include "api/http/http_message.hpp"
#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/report.hpp"
#include "api/round_memory.hpp"
#include "domain/request.hpp"
#include "domain/time.hpp"

namespace api {

// POST of vote shares (share-helper 1.1 to 1.3). Every error is {"status":"error","error":…}. The
// commitment cross-check (1.4) is skipped: there is no tree to read yet. Any thread.
class ShareRoutes {
public:
    ShareRoutes(const Options& options, const Ports& ports);

    // In this order: 503 when switched off, 401 without a token, 400 for an announced size over
    // the limit, 415 for forms. Nothing: the body may be read.
    [[nodiscard]] std::optional<HttpResponse> before_body(const HttpRequest& head) const;
    // What Gatekeeper lets in later.
    [[nodiscard]] HttpResponse limited_answer(std::string_view call_id,
                                              std::uint32_t retry_after_seconds) const;
    // Refusals are answered at once, everything else after the commit.
    void submit(std::string_view body, const std::string& call_id, Respond respond);
    [[nodiscard]] HttpResponse unreadable(HttpProblem problem) const;

private:
    using VoteEnd = std::variant<domain::Timestamp, HttpResponse>;

    [[nodiscard]] VoteEnd find_vote_end(const domain::Bytes32& round_id, std::string_view call_id);
    // Nothing: the share may go on to the engine.
    [[nodiscard]] std::optional<HttpResponse> check_submit_at(const domain::VoteShare& share,
                                                              domain::Timestamp vote_end,
                                                              std::string_view call_id) const;
    [[nodiscard]] HttpResponse answer(const engine::AcceptOutcome& outcome,
                                      std::string_view call_id);
    void note_scheduled(const engine::Accepted& accepted, std::string_view call_id);
    [[nodiscard]] HttpResponse refuse(int status, std::string_view text,
                                      std::string_view call_id) const;

    const Options& options_;
    const Gatekeeper& gatekeeper_;
    engine::Intake& intake_;
    engine::RoundDirectory& rounds_;
    const engine::Clock& clock_;
    engine::Journal& journal_;
    RoundMemory known_rounds_;
    TroubleReport intake_trouble_{"intake_unavailable", journal_, clock_};
    TroubleReport rounds_trouble_{"round_lookup_failed", journal_, clock_};
};

}  // namespace api
