#include "net/client_context.hpp"

#include <mutex>
#include <utility>

#include "net/io_thread.hpp"
#include "net/tls_trust.hpp"

namespace net {

struct ClientContext::Lazy {
    std::mutex mutex;
    std::unique_ptr<TlsTrust> trust;
};

ClientContext::ClientContext(Proxies proxies)
    : proxies_(std::move(proxies)),
      lazy_(std::make_unique<Lazy>()),
      thread_(std::make_unique<IoThread>()) {}

ClientContext::~ClientContext() = default;

TlsTrust& ClientContext::trust() {
    const std::lock_guard lock(lazy_->mutex);
    if (!lazy_->trust) lazy_->trust = std::make_unique<TlsTrust>();
    return *lazy_->trust;
}

}  // namespace net
