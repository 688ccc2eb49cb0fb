#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/lookups.hpp"
#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/router.hpp"
#include "api/share_answers.hpp"
#include "api/share_queries.hpp"
#include "api/share_submitter.hpp"
#include "net/http_message.hpp"

namespace api {

// The routes of vote shares (share-helper 1). Every error is {"status":"error","error":…}. Any
// thread; nothing here waits for the chain.
class ShareRoutes {
public:
    ShareRoutes(const Options& options, const Ports& ports);

    // A route that is switched off is unknown, whoever asks and how.
    [[nodiscard]] bool is_hidden(const Route& route) const;
    // In this order: 503 when shares are switched off, 401 for who is not `admitted`, and for POSTs
    // 400 for an announced size over the limit, whatever their Content-Type. Nothing: the body may
    // be read.
    [[nodiscard]] std::optional<net::HttpResponse> before_body(const Route& route,
                                                               const net::HttpRequest& head,
                                                               bool admitted) const;
    // Without a token that is good.
    [[nodiscard]] net::HttpResponse unauthorized_answer() const;
    // What Authenticator lets in later.
    [[nodiscard]] net::HttpResponse limited_answer(std::string_view call_id,
                                                   std::uint32_t retry_after_seconds) const;
    // What came past before_body. What blocks is done elsewhere and answered later.
    void answer(const Route& route, const net::HttpRequest& request, std::string call_id,
                net::Respond respond);
    // A share whose body stalled has a receipt for who asked for one: that nothing was stored.
    [[nodiscard]] static net::HttpResponse unreadable(const Options& options,
                                                      const net::HttpRequest& head,
                                                      net::HttpProblem problem);
    // After an exception; inside the catch block.
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest& request, std::string call_id);

private:
    const Options options_;
    ShareAnswers answers_;
    ShareSubmitter submitter_;
    ShareQueries queries_;
    // Last, so that they end before what they work with. What is asked often must not keep shares
    // out.
    Lookups submit_lookups_;
    Lookups query_lookups_;
    Lookups tree_lookups_;
};

}  // namespace api
