#include "net/pending_request.hpp"

namespace net {

void PendingRequest::open(std::shared_ptr<const void> ticket) {
    ticket_ = std::move(ticket);
    const std::lock_guard lock(mutex_);
    response_.reset();
    answered_ = false;
}

bool PendingRequest::wait() {
    const std::lock_guard lock(mutex_);
    waiting_ = !answered_;
    return waiting_;
}

std::optional<HttpResponse> PendingRequest::take_answer() {
    const std::lock_guard lock(mutex_);
    ticket_.reset();
    return std::exchange(response_, std::nullopt);
}

void PendingRequest::note_gone() {
    std::function<void()> told;
    {
        const std::lock_guard lock(mutex_);
        gone_ = true;
        told.swap(told_gone_);
    }
    if (told) told();
}

void PendingRequest::disown() {
    const std::lock_guard lock(mutex_);
    owner_ = nullptr;
}

void PendingRequest::answer(std::optional<HttpResponse> response) {
    std::function<void()> forgotten;
    const std::lock_guard lock(mutex_);
    forgotten.swap(told_gone_);
    response_ = std::move(response);
    answered_ = true;
    if (std::exchange(waiting_, false) && owner_ != nullptr) owner_->on_answer();
}

void PendingRequest::when_gone(std::function<void()> told) {
    {
        const std::lock_guard lock(mutex_);
        if (!gone_) {
            told_gone_ = std::move(told);
            if (owner_ != nullptr) owner_->on_watch();
            return;
        }
    }
    told();
}

}  // namespace net
