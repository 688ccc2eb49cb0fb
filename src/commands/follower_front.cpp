#include "commands/follower_front.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/admin/admin_application.hpp"
#include "api/admin/job_answers.hpp"
#include "api/admin/job_routes.hpp"
#include "api/envelope.hpp"
#include "api/forwarding/forwarder.hpp"
#include "api/metrics/metrics_server.hpp"
#include "api/metrics/node_metrics.hpp"
#include "api/metrics/process_facts.hpp"
#include "commands/admin_client.hpp"
#include "commands/build_info.hpp"
#include "commands/client_names.hpp"
#include "commands/listening.hpp"
#include "commands/role.hpp"
#include "net/http_server.hpp"
#include "store/job_reader.hpp"
#include "store/reader.hpp"

namespace commands {

namespace {

// For commands of this machine: what the file knows is shown, and nothing is changed.
class FollowerAdmin : public net::HttpApplication {
public:
    FollowerAdmin(const cluster::NodeView& node, std::vector<api::admin::AdminRoute> routes)
        : node_(node), routes_(std::move(routes)) {}

    [[nodiscard]] net::HeadVerdict before_body(const net::HttpRequest&) override { return {}; }

    [[nodiscard]] net::HttpResponse handle(const net::HttpRequest& request) override {
        const auto route = std::ranges::find_if(
            routes_, [&](const auto& one) { return one.takes(request.method, request.path); });
        if (route == routes_.end()) return not_here();
        // What is read from a file is answered before the call returns.
        net::HttpResponse answer;
        route->answer(request,
                      [&answer](net::HttpResponse response) { answer = std::move(response); });
        return answer;
    }

    [[nodiscard]] net::HttpResponse unreadable(const net::HttpRequest&,
                                               net::HttpProblem problem) override {
        return api::admin_error(net::status_of(problem), net::text_of(problem));
    }
    [[nodiscard]] net::HttpResponse failed(const net::HttpRequest&) override {
        return api::admin_error(500, "Internal error");
    }

private:
    [[nodiscard]] net::HttpResponse not_here() const {
        const cluster::NodeState state = node_.state();
        const bool is_owned = state.owner && !state.owner->is_free();
        return api::admin_error(
            409, "This node follows and changes nothing. " +
                     (is_owned ? "The node " + state.owner->node + " owns the book: do it there"
                               : std::string("Nobody owns the book just now")));
    }

    const cluster::NodeView& node_;
    const std::vector<api::admin::AdminRoute> routes_;
};

// The file of a follower, for whoever asks what is in it.
class FileAnswers {
public:
    explicit FileAnswers(const FollowerFront::Parts& parts)
        : file_(parts.settings.store),
          reader_(file_, 1),
          job_reader_(file_),
          jobs_(job_reader_, {.clock = parts.clock,
                              .with_shares = parts.settings.engine.shares.expose_timing,
                              .client_name = client_names(parts.settings)}),
          status_{.clock = parts.clock,
                  .version = build_version,
                  .role = role_of(parts.settings),
                  .with_shares = parts.settings.engine.shares.expose_timing,
                  .directory = file_.directory,
                  .backlog = [this] { return reader_.backlog(); },
                  .client_name = client_names(parts.settings),
                  .node = [&node = parts.node] { return node.state(); }} {}

    [[nodiscard]] std::vector<api::admin::AdminRoute> routes() {
        return api::admin::job_routes(jobs_, status_);
    }

private:
    const store::Options file_;
    store::Reader reader_;
    store::JobReader job_reader_;
    api::admin::JobAnswers jobs_;
    const api::admin::StatusSources status_;
};

api::forwarding::ForwarderOptions forwarder_options(const cluster::Options& options) {
    api::forwarding::ForwarderOptions forwarder;
    forwarder.node = options.node;
    forwarder.ca_file = options.ca_file;
    return forwarder;
}

}  // namespace

class FollowerFront::Listening {
public:
    Listening(const Parts& parts, std::vector<base::Descriptor> sockets)
        : parts_(parts),
          forwarder_({parts.node, parts.settings.cluster->keys, parts.clock, parts.random,
                      parts.log, parts.settings.evm.client_context},
                     forwarder_options(*parts.settings.cluster), parts.settings.api),
          server_(parts.settings.http, forwarder_, std::move(sockets)),
          reloads_(tls_reloads(parts.settings, server_), parts.log),
          metrics_server_(api::metrics::serve_metrics(
              parts.settings.metrics,
              [&node = parts_.node, &clock = parts_.clock] {
                  return api::metrics::follower_exposition(node.state(), clock.wall(),
                                                           api::metrics::process_facts());
              },
              parts.log, parts.clock)) {
        server_.start();
        log_listening(parts_.log, parts.settings.http, server_.port());
    }

    // The file is there. Requests are more important than what commands of this machine ask.
    void answer_commands() {
        if (admin_server_) return;
        try {
            file_answers_ = std::make_unique<FileAnswers>(parts_);
            admin_ = std::make_unique<FollowerAdmin>(parts_.node, file_answers_->routes());
            admin_server_ = std::make_unique<net::HttpServer>(
                api::admin::http_options_at(admin_socket(parts_.settings.store)), *admin_);
            admin_server_->start();
        } catch (const std::runtime_error& error) {
            log_no_admin_socket(parts_.log, error);
        }
    }

    void leave_file() {
        admin_server_.reset();
        admin_.reset();
        file_answers_.reset();
    }

    [[nodiscard]] Reloads& reloads() { return reloads_; }

    void look_at_owner() { forwarder_.look_at_owner(); }

    void drain(domain::Milliseconds patience) {
        forwarder_.stop();
        static_cast<void>(server_.drain(patience));
    }

private:
    const Parts parts_;
    api::forwarding::Forwarder forwarder_;
    net::HttpServer server_;
    Reloads reloads_;
    const std::unique_ptr<api::metrics::MetricsServer> metrics_server_;
    std::unique_ptr<FileAnswers> file_answers_;
    std::unique_ptr<FollowerAdmin> admin_;
    std::unique_ptr<net::HttpServer> admin_server_;
};

FollowerFront::FollowerFront(const Parts& parts, std::vector<base::Descriptor> sockets)
    : listening_(std::make_unique<Listening>(parts, std::move(sockets))) {}

FollowerFront::~FollowerFront() = default;

void FollowerFront::answer_commands() {
    listening_->answer_commands();
}

void FollowerFront::leave_file() {
    listening_->leave_file();
}

Reloads& FollowerFront::reloads() {
    return listening_->reloads();
}

void FollowerFront::look_at_owner() {
    listening_->look_at_owner();
}

void FollowerFront::drain(domain::Milliseconds patience) {
    listening_->drain(patience);
}

}  // namespace commands
