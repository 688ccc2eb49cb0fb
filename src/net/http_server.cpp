#include "net/http_server.hpp"

#include <algorithm>
#include <utility>

#include "net/admission.hpp"

namespace net {

namespace {

ReadingLimits reading_limits(const HttpOptions& options) {
    return {.head_bytes_max = options.head_bytes_max,
            .headers_max = options.headers_max,
            .body_bytes_max = options.body_bytes_max};
}

std::optional<Tls> load_tls(const HttpOptions& options) {
    if (options.tls_certificate_file.empty() && options.tls_key_file.empty()) return std::nullopt;
    return std::optional<Tls>(std::in_place,
                              TlsFiles{options.tls_certificate_file, options.tls_key_file});
}

EventLoop::Options loop_options(const HttpOptions& options) {
    raise_file_limit();
    return {.request_deadline = options.request_deadline,
            .connections_max =
                connections_allowed(options.connections_max, options.descriptors_reserved),
            .connections_per_address_max = options.connections_per_address_max,
            .makes_room = options.makes_room};
}

}  // namespace

HttpServer::HttpServer(const HttpOptions& options, HttpApplication& application)
    : workers_wanted_(std::max(options.workers, 1U)),
      application_(application),
      tls_(load_tls(options)),
      listener_(options.host, options.port, options.address_setting),
      port_(listener_.port()),
      returns_(std::make_shared<Returns>(reading_limits(options), options.buffered_bytes_max,
                                         options.idle_timeout)),
      loop_(loop_options(options), listener_, tls_ ? &*tls_ : nullptr, application, returns_) {}

HttpServer::~HttpServer() {
    if (workers_) {
        workers_->stop();
        loop_.wake();
        workers_.reset();
    }
    loop_.close();
}

void HttpServer::start() {
    if (workers_) return;
    workers_.emplace(
        workers_wanted_, [this](Workers::Connections& ready) { loop_.watch(ready); },
        [this](const std::shared_ptr<Connection>& connection) {
            try {
                application_.serve(HttpExchange(connection));
            } catch (...) {
                // The exchange went down with it and answers as failed.
            }
        });
}

void HttpServer::stop_accepting() {
    loop_.stop_accepting();
}

std::optional<std::string> HttpServer::reload_tls() {
    return tls_ ? tls_->reload() : std::nullopt;
}

bool HttpServer::drain(std::chrono::milliseconds patience) {
    loop_.drain();
    if (!workers_) return true;
    return loop_.wait_until_empty(patience);
}

}  // namespace net
