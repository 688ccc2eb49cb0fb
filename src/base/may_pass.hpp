#pragma once

#include <cerrno>

namespace base {

// Whether an errno says nothing about the file: another start may be able to read it.
[[nodiscard]] constexpr bool may_pass(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR || error == EIO;
}

}  // namespace base
