#include "commands/exit_status.hpp"

#include "config/exit_status.hpp"
#include "engine/chain_marks.hpp"
#include "store/open_errors.hpp"

namespace commands {

namespace {

template <typename Kind>
bool is(const std::exception& error) {
    return dynamic_cast<const Kind*>(&error) != nullptr;
}

bool is_of_somebody_else(const std::exception& error) {
    return is<store::ForeignDatabase>(error) || is<engine::ForeignDatabase>(error);
}

bool tells_damage(const std::exception& error) {
    const auto* storage = dynamic_cast<const store::StorageError*>(&error);
    return is<store::DamagedDatabase>(error) ||
           (storage != nullptr && storage->kind() == store::StorageErrorKind::corrupt);
}

}  // namespace

int exit_status_of(const std::exception& error) {
    if (is<BadSettings>(error) || is<store::UntrustedPlace>(error)) return config::exit_usage;
    if (tells_damage(error)) return config::exit_damaged;
    if (is<store::NotWritable>(error)) return config::exit_not_writable;
    if (is_of_somebody_else(error)) return config::exit_foreign;
    return config::exit_failed;
}

}  // namespace commands
