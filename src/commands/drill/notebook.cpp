#include "commands/drill/notebook.hpp"

namespace commands::drill {

void Notebook::promise(const Promise& promise) {
    const std::lock_guard lock(mutex_);
    notes_.promises.push_back(promise);
}

void Notebook::repeat(const Repeat& repeat) {
    const std::lock_guard lock(mutex_);
    notes_.repeats.push_back(repeat);
}

void Notebook::later() {
    const std::lock_guard lock(mutex_);
    ++notes_.later;
}

void Notebook::unanswered() {
    const std::lock_guard lock(mutex_);
    ++notes_.unanswered;
}

void Notebook::violation(std::string text) {
    const std::lock_guard lock(mutex_);
    notes_.violations.push_back(std::move(text));
}

std::optional<std::pair<std::size_t, Promise>> Notebook::any(std::uint64_t pick) const {
    const std::lock_guard lock(mutex_);
    if (notes_.promises.empty()) return std::nullopt;
    const std::size_t index = pick % notes_.promises.size();
    return std::pair{index, notes_.promises[index]};
}

std::size_t Notebook::promises() const {
    const std::lock_guard lock(mutex_);
    return notes_.promises.size();
}

Notes Notebook::notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
}

}  // namespace commands::drill
