#pragma once

#include <string>
#include <string_view>

namespace api::admin::page {

// As text of an element, or of an attribute in double quotes (HTML 13.1.2, 13.3).
[[nodiscard]] std::string escaped(std::string_view text);

// `<name attributes>inner</name>`; both are HTML already.
[[nodiscard]] std::string element(std::string_view name, std::string_view inner,
                                  std::string_view attributes = {});

}  // namespace api::admin::page
