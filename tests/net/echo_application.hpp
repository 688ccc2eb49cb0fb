#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "net/http_server.hpp"

namespace net {

// Answers with what it understood of the request. A few paths behave badly on purpose.
class EchoApplication : public HttpApplication {
public:
    HeadVerdict before_body(const HttpRequest& head) override {
        if (head.path == "/nowhere") return {.answer = text(404, "no such route")};
        if (head.path == "/throws-early") throw std::runtime_error("secret early");
        return {};
    }

    HttpResponse handle(const HttpRequest& request) override {
        ++handled;
        if (request.path == "/throws") throw std::runtime_error("secret k3y");
        if (request.path == "/throws-number") throw 42;
        if (request.path == "/blocks") wait();
        if (request.path == "/large") return text(200, std::string(large_bytes, 'L'));
        if (request.path == "/size") return text(200, std::to_string(request.body.size()));
        return text(200, std::string(request.method) + " " + std::string(request.path) + "?" +
                             std::string(request.query) + " " + std::string(request.body));
    }

    HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) override {
        auto response = text(status_of(problem), std::string(text_of(problem)));
        response.headers.emplace_back("X-Path", head.path);
        if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
        return response;
    }

    HttpResponse failed(const HttpRequest& request) override {
        auto response = text(500, "internal error");
        response.headers.emplace_back("X-Path", request.path);
        return response;
    }

    // Lets every request to /blocks go on, now and later.
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void wait_for_blocked(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return blocked_ >= count; });
    }

    static constexpr std::size_t large_bytes = std::size_t{8} << 20U;
    std::atomic<int> handled{0};

private:
    static HttpResponse text(int status, std::string body) {
        HttpResponse response;
        response.status = status;
        response.body = std::move(body);
        response.content_type = "text/plain";
        return response;
    }

    void wait() {
        std::unique_lock lock(mutex_);
        ++blocked_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int blocked_ = 0;
    bool open_ = false;
};

}  // namespace net
