#pragma once

#include <string>

namespace chains::diagnosis {

// One thing that was looked at, in one line: what is and, unless that is well, what to do.
struct Finding {
    enum class Verdict { ok, warning, failed };
    Verdict verdict = Verdict::ok;
    std::string subject;  // such as `gateway write node`, `signer`
    std::string text;     // without secrets and URLs
};

}  // namespace chains::diagnosis
