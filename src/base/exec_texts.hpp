#pragma once

#include <string>
#include <vector>

namespace base {

// Arguments or an environment as execve(2) takes them; the texts stay where they are meanwhile.
[[nodiscard]] inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace base
