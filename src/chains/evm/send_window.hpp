#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "domain/kind.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

// How many transactions of a family are written to the node within any second, whatever held some
// of them up before: a slow signature, a busy machine, a connection that took long to open. One for
// all accounts, since a rate is a family's. Any thread.
//
// Whoever leaves takes a place before anything of it can be written, and the place is free again
// one second after it was written. So the writes of no second, wherever it begins, are more than
// the places.
class SendWindow {
public:
    // One that was taken. Any thread.
    class Place {
    public:
        Place(SendWindow& window, domain::Family family) : window_(window), family_(family) {}
        ~Place() { written(); }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;

        // All of it is written, or it will never be. Only the first call counts.
        void written();

    private:
        SendWindow& window_;
        const domain::Family family_;
        std::once_flag is_written_;
    };
    using PlacePtr = std::shared_ptr<Place>;

    explicit SendWindow(const ports::Clock& clock) : clock_(clock) {}

    // A place among `places`, at least one. All are taken: how long to wait before asking again.
    [[nodiscard]] std::variant<PlacePtr, domain::Milliseconds> take(domain::Family family,
                                                                    std::uint32_t places);

    // The most that were written within a second so far.
    [[nodiscard]] std::uint32_t most(domain::Family family) const;

private:
    struct Places {
        std::uint32_t being_written = 0;
        std::deque<domain::Monotonic> written;  // within the last second
        std::uint32_t most = 0;
    };

    void note_written(domain::Family family);
    // Of the relayer's families.
    [[nodiscard]] static std::size_t index_of(domain::Family family);
    static void forget_before(Places& places, domain::Monotonic now);

    const ports::Clock& clock_;
    mutable std::mutex mutex_;  // for what follows
    std::array<Places, 3> places_;
};

}  // namespace chains::evm
