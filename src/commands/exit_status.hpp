#pragma once

#include <exception>
#include <stdexcept>

namespace commands {

// What the operator has written can not be used, in the file or in what it names. what() says what
// and the way out, no secret.
class BadSettings : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// What a program ends with that can not go on, one of config/exit_status.hpp.
[[nodiscard]] int exit_status_of(const std::exception& error);

}  // namespace commands
