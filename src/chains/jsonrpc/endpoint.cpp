#include "chains/jsonrpc/endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "chains/jsonrpc/http_request.hpp"
#include "chains/jsonrpc/trouble.hpp"

namespace chains::jsonrpc {
namespace {

constexpr std::size_t idle_max = 8;
constexpr std::chrono::seconds connect_max{3};

Trouble trouble_of(HttpFault fault, domain::Milliseconds timeout) {
    using Kind = Trouble::Kind;
    switch (fault) {
        case HttpFault::timed_out:
            return trouble(Kind::timed_out, "no answer in " + in_words(timeout));
        case HttpFault::stopped:
            return stopped();
        case HttpFault::malformed:
            return trouble(Kind::garbled, "no HTTP");
        case HttpFault::too_large:
            return trouble(Kind::garbled, "answer too large");
        case HttpFault::silent_end:
        case HttpFault::broken:
            break;
    }
    return trouble(Kind::lost, "connection broken");
}

Posted posted(std::variant<HttpResponse, HttpFault> outcome, domain::Milliseconds timeout) {
    if (const auto* const fault = std::get_if<HttpFault>(&outcome)) {
        return trouble_of(*fault, timeout);
    }
    return std::get<HttpResponse>(std::move(outcome));
}

bool ended_silently(const std::variant<HttpResponse, HttpFault>& outcome) {
    const auto* const fault = std::get_if<HttpFault>(&outcome);
    return fault != nullptr && *fault == HttpFault::silent_end;
}

}  // namespace

Endpoint::Endpoint(Url url, std::shared_ptr<const TlsContext> tls, std::size_t response_bytes_max)
    : url_(std::move(url)),
      tls_(std::move(tls)),
      response_bytes_max_(response_bytes_max),
      secrets_(url_.secrets()) {}

Posted Endpoint::exchange(const HttpRequest& request, domain::Milliseconds timeout,
                          const Signal& stop) {
    const auto text = write_http(request, url_);
    if (!text) return trouble(Trouble::Kind::unsent, "a request that HTTP can not carry");
    const std::size_t bytes_max =
        request.response_bytes_max > 0 ? request.response_bytes_max : response_bytes_max_;
    const Deadline begin = std::chrono::steady_clock::now();
    const Deadline deadline = begin + timeout;
    if (Line line = take_idle()) {
        auto outcome = ask(std::move(line), *text, bytes_max, deadline, stop);
        if (!ended_silently(outcome)) return posted(std::move(outcome), timeout);
        drop_idle();  // whatever ended this one ended the others
        if (!request.repeatable) return posted(std::move(outcome), timeout);
    }
    auto connected = connect(url_, tls_.get(), std::min(deadline, begin + connect_max), stop);
    if (auto* const trouble = std::get_if<Trouble>(&connected)) return std::move(*trouble);
    return posted(ask(std::get<Line>(std::move(connected)), *text, bytes_max, deadline, stop),
                  timeout);
}

Posted Endpoint::post(std::string_view json, bool repeatable, domain::Milliseconds timeout,
                      const Signal& stop) {
    return exchange({.method = "POST", .body = json, .repeatable = repeatable}, timeout, stop);
}

std::variant<HttpResponse, HttpFault> Endpoint::ask(Line line, std::string_view text,
                                                    std::size_t response_bytes_max,
                                                    Deadline deadline, const Signal& stop) {
    switch (line->write(text, deadline, stop)) {
        case Connection::End::timed_out:
            return HttpFault::timed_out;
        case Connection::End::stopped:
            return HttpFault::stopped;
        case Connection::End::none:
        case Connection::End::closed:
        case Connection::End::broken:
            break;  // who takes no more of a request may have answered it already
    }
    auto outcome = HttpResponseReader(*line, deadline, stop, response_bytes_max).read();
    const auto* const response = std::get_if<HttpResponse>(&outcome);
    if (response != nullptr && response->keeps_alive) keep(std::move(line));
    return outcome;
}

Endpoint::Line Endpoint::take_idle() {
    for (;;) {
        Line line;
        {
            const std::lock_guard lock(mutex_);
            if (idle_.empty()) return nullptr;
            line = std::move(idle_.back());
            idle_.pop_back();
        }
        if (line->is_quiet()) return line;
    }
}

void Endpoint::keep(Line line) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idle_max) idle_.push_back(std::move(line));
}

void Endpoint::drop_idle() {
    std::vector<Line> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(idle_);
}

}  // namespace chains::jsonrpc
