#include "chains/evm/send_window.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>

namespace chains::evm {

using domain::Family;
using domain::Milliseconds;
using domain::Monotonic;

namespace {

constexpr std::chrono::seconds second{1};
// While all of them are being written, which takes no time that is known.
constexpr Milliseconds look_again{10};

}  // namespace

void SendWindow::Place::written() {
    std::call_once(is_written_, [this] { window_.note_written(family_); });
}

std::variant<SendWindow::PlacePtr, Milliseconds> SendWindow::take(Family family,
                                                                  std::uint32_t places) {
    assert(places > 0);
    const std::lock_guard lock{mutex_};
    Places& taken = places_.at(index_of(family));
    const Monotonic now = clock_.monotonic();
    forget_before(taken, now);
    if (taken.being_written + taken.written.size() < places) {
        auto place = std::make_shared<Place>(*this, family);
        ++taken.being_written;
        return place;
    }
    if (taken.written.empty()) return look_again;
    return std::chrono::ceil<Milliseconds>(taken.written.front() + second - now);
}

std::uint32_t SendWindow::most(Family family) const {
    const std::lock_guard lock{mutex_};
    return places_.at(index_of(family)).most;
}

void SendWindow::note_written(Family family) {
    const std::lock_guard lock{mutex_};
    Places& places = places_.at(index_of(family));
    assert(places.being_written > 0);
    --places.being_written;
    const Monotonic now = clock_.monotonic();
    forget_before(places, now);
    places.written.push_back(now);
    places.most = std::max(places.most, static_cast<std::uint32_t>(places.written.size()));
}

std::size_t SendWindow::index_of(Family family) {
    assert(family != Family::share);
    return static_cast<std::size_t>(family);
}

void SendWindow::forget_before(Places& places, Monotonic now) {
    while (!places.written.empty() && now - places.written.front() >= second) {
        places.written.pop_front();
    }
}

}  // namespace chains::evm
