#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/contract_signatures.hpp"
#include "api/http_message.hpp"
#include "api/options.hpp"
#include "api/refusal.hpp"
#include "api/report.hpp"
#include "domain/kind.hpp"
#include "domain/request.hpp"
#include "engine/clock.hpp"
#include "engine/inquiry.hpp"
#include "engine/intake.hpp"
#include "engine/journal.hpp"

namespace api {

// POST and GET of the relayer's request kinds (relayer-api 1.3 to 1.11). Any thread.
class RelayerRoutes {
public:
    RelayerRoutes(const Options& options, engine::Intake& intake, engine::Inquiry& inquiry,
                  ContractSignatures& contracts, const engine::Clock& clock,
                  engine::Journal& journal);

    // Nothing: the body may be read.
    [[nodiscard]] std::optional<Refusal> before_body(const HttpRequest& head) const;
    // What Gatekeeper does not let in, and what it lets in later.
    [[nodiscard]] HttpResponse unauthorized_answer(std::string_view call_id) const;
    [[nodiscard]] HttpResponse limited_answer(std::string_view call_id,
                                              std::uint32_t retry_after_seconds) const;
    // Refusals are answered at once, everything else after the commit.
    void submit(domain::Kind kind, std::string_view body, const std::string& call_id,
                Respond respond);
    // `job_id` as it stands in the path.
    [[nodiscard]] HttpResponse poll(domain::Kind kind, std::string_view job_id,
                                    std::string_view call_id);
    [[nodiscard]] HttpResponse unreadable(HttpProblem problem, std::string_view call_id) const;

private:
    [[nodiscard]] HttpResponse answer(domain::Kind kind, const engine::AcceptOutcome& outcome,
                                      std::string_view call_id);
    [[nodiscard]] std::optional<Refusal> check_host_chains(const domain::Request& request) const;
    [[nodiscard]] std::optional<Refusal> check_signature(const domain::Request& request,
                                                         std::string_view call_id);
    [[nodiscard]] HttpResponse refuse(const Refusal& refusal, std::string_view call_id,
                                      std::uint32_t retry_after_seconds = 0) const;

    const Options& options_;
    engine::Intake& intake_;
    engine::Inquiry& inquiry_;
    ContractSignatures& contracts_;
    const engine::Clock& clock_;
    engine::Journal& journal_;
    TroubleReport intake_trouble_{"intake_unavailable", journal_, clock_};
    TroubleReport inquiry_trouble_{"inquiry_failed", journal_, clock_};
    TroubleReport signature_trouble_{"signature_check_failed", journal_, clock_};
};

}  // namespace api
