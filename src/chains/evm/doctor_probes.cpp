#include <condition_variable>
#include <mutex>

#include "chains/evm/doctor.hpp"
#include "chains/evm/nodes.hpp"
#include "chains/jsonrpc/subscription.hpp"

namespace chains::evm {

namespace {

// A flag that can be waited for.
class Event {
public:
    void set() {
        {
            const std::lock_guard lock{mutex_};
            set_ = true;
        }
        changed_.notify_all();
    }
    [[nodiscard]] bool wait_for(domain::Milliseconds patience) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, patience, [this] { return set_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

std::optional<std::string> try_subscription(const Options& options, const std::string& url,
                                            const ports::Clock& clock) {
    Event subscribed;
    jsonrpc::Subscription subscription{subscription_options(options, url), clock,
                                       [&subscribed] { subscribed.set(); }};
    if (subscribed.wait_for(options.call_timeout)) return std::nullopt;
    return subscription.problem();
}

}  // namespace

Probes make_probes(const Options& options, const ports::Clock& clock) {
    return {[options, &clock](const std::string& url) { return make_node({url}, options, clock); },
            [options, &clock](const std::string& url) {
                return try_subscription(options, url, clock);
            }};
}

}  // namespace chains::evm
