#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "api/access/secret_token.hpp"
#include "api/admin/admin_changes.hpp"
#include "api/admin/admin_options.hpp"
#include "api/admin/admin_route.hpp"
#include "api/throttled_log.hpp"
#include "net/http_application.hpp"
#include "net/http_server.hpp"
#include "ports/clock.hpp"

namespace api::admin {

// The admin interface: GET and POST /admin/config (relayer-api 6), and the routes it is given. On
// an address of its own a token is needed, unlike in the reference, and what is changed is
// remembered. Any thread; requests that wait for a commit hold no worker.
class AdminApplication : public net::HttpApplication {
public:
    // `token`: what a client must show; nothing: whoever reaches the listener may do all, as on a
    // socket file. `changes` and what `routes` need outlive the application.
    AdminApplication(std::optional<std::string_view> token, AdminChanges& changes,
                     ports::Logger& logger, const ports::Clock& clock,
                     std::vector<AdminRoute> routes = {});

    [[nodiscard]] net::HeadVerdict before_body(const net::HttpRequest& head) override;
    [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request) override;
    void serve(net::HttpExchange exchange) override;
    [[nodiscard]] net::HttpResponse unreadable(const net::HttpRequest& head,
                                               net::HttpProblem problem) override;
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest& request) override;

private:
    [[nodiscard]] std::optional<net::HttpResponse> early_answer(const net::HttpRequest& head);
    [[nodiscard]] const AdminRoute* find(std::string_view path) const;
    [[nodiscard]] bool is_admitted(const net::HttpRequest& head) const;
    void answer(const net::HttpRequest& request, net::Respond respond);
    void post(const net::HttpRequest& request, net::Respond respond);
    [[nodiscard]] net::HttpResponse answer_of(const AdminParameter& parameter,
                                              const AdminChanges::Outcome& outcome);

    const std::optional<access::SecretToken> token_;
    AdminChanges& changes_;
    std::vector<AdminRoute> routes_;
    ThrottledLog denied_;
    ThrottledLog refused_;
    ThrottledLog not_stored_;
    ThrottledLog failed_;
};

// Small requests of few clients.
[[nodiscard]] net::HttpOptions http_options_of(const AdminOptions& options);
// Same, on a socket file.
[[nodiscard]] net::HttpOptions http_options_at(const std::filesystem::path& socket_file);

}  // namespace api::admin
