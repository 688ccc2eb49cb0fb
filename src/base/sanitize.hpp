#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// What somebody else wrote, before it leaves the process: to the log, to a client, to a terminal.
namespace base {

struct Sanitizing {
    enum class Controls {
        blank,  // each byte becomes a space
        drop,   // but for tabs and line ends, which become spaces
    };

    std::size_t bytes_max = 500;                // the rest is cut off between two characters
    std::span<const std::string> secrets = {};  // hidden wherever they stand letter by letter
    Controls controls = Controls::blank;
};

// One line of UTF-8: URLs and secrets are hidden, bytes that are not UTF-8 become U+FFFD, control
// characters (C0, DEL, C1, line and paragraph separators) go. Of a very long text the end is not
// looked at.
[[nodiscard]] std::string sanitize(std::string_view text, const Sanitizing& rules);

// Same for text of somebody who was given secrets and may repeat a part of one in any spelling: one
// line of printable ASCII, where `…` stands for URLs and for whatever may be such a part: 20 or
// more characters without a space, hex or decimal numbers in a row with that many digits, and
// everything from the first number on when there are more than 30 digits in all. Of at most
// `bytes_max` and a few bytes. `secrets` as in Sanitizing.
[[nodiscard]] std::string harmless_text(std::string_view text, std::size_t bytes_max,
                                        std::span<const std::string> secrets = {});

// A value in a line of the log, `name="value"`: in quotes, with `"` and `\` escaped. The log itself
// keeps control characters out.
[[nodiscard]] std::string log_value(std::string_view text);

// Without what may be the beginning of a longer secret, for text that was cut off.
[[nodiscard]] std::string_view without_open_end(std::string_view text);

}  // namespace base
