#pragma once

#include <unistd.h>

#include <utility>

namespace base {

// Owns one descriptor and closes it.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int value) : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            value_ = std::exchange(other.value_, -1);
        }
        return *this;
    }
    ~Descriptor() { reset(); }

    [[nodiscard]] int get() const { return value_; }
    [[nodiscard]] bool is_open() const { return value_ >= 0; }

    // Somebody else closes it.
    void release() { value_ = -1; }
    void reset() {
        if (value_ >= 0) ::close(std::exchange(value_, -1));
    }

private:
    int value_ = -1;
};

}  // namespace base
