#!/usr/bin/env bash
# commit: api: docs and access stand below the routes, admin and metrics above
# why: access took the routes' options and asked their table, and the routes asked admin for an answer.
set -euo pipefail
here=$(dirname "$0")
if [ ! -f src/api/access/options.hpp ]; then
    cp "$here/files/access_options.hpp" src/api/access/options.hpp
    git add src/api/access/options.hpp
fi
python3 "$here/rename.py" <<'RULES'
text "/    \/\/ What X-Helper-Token must equal \[helper\.api_token\](?:.|\n)*?std::string credentials_directory;\n/" "    access::Options access;\n" in src/api/options.hpp
text "/(?<!options\.hpp\"\n)#include \"domain/bytes\.hpp\"\n/" "#include \"api/access/options.hpp\"\n#include \"domain/bytes.hpp\"\n" in src/api/options.hpp
code /\b(s\.api|settings\.api|options)\.(client_keys_file|share_tokens_file|share_api_token|credentials_directory)\b/ \1.access.\2 in src/config/* src/commands/* tests/* src/api/*.cpp not src/api/access/*
text "/#include \"api/options\.hpp\"/" "#include \"api/access/options.hpp\"" in src/api/access/*
code /\b(settings_?)\.api, (clock_?)(?=\W)/ "\1.api.access, \2" in src/commands/*
text "/#include \"api/router\.hpp\"\n/" "" in src/api/access/*
code /\bis_share_path\(path\)/ "path.starts_with(share_paths)" in src/api/access/*
text "/(?<!vote\/\";\n)^constexpr std::string_view open_share_path = /" "constexpr std::string_view share_paths = \"/shielded-vote/\";\nconstexpr std::string_view open_share_path = " in src/api/access/authenticator.cpp
code /\bAuthenticator\(options, clock\)/ "Authenticator(options.access, clock)" in tests/*
code /\bauthenticator([{(])options, clock/ "authenticator\1options.access, clock" in tests/*
code /\bauthenticator\(box\.options,/ "authenticator(box.options.access," in tests/*
text "/#include \"api/docs_embedded\.hpp\"/" "#include \"api/docs/docs_embedded.hpp\""
text "/^net::HttpResponse admin_error\((?:.|\n)*?\n\}\n\n/" "" in src/api/admin/*
text "/^\[\[nodiscard\]\] net::HttpResponse admin_error\(.*\n/" "" in src/api/admin/*
code /\badmin::admin_error\(/ "admin_error(" in src/api/*.cpp
text "/#include \"api/admin/admin_answer\.hpp\"\n/" "" in src/api/application.cpp
RULES
if ! grep -q 'admin_error' src/api/envelope.hpp; then
    perl -0pi -e 's|(\n\}  // namespace api\n)$|\n// What /admin/config says of a call it does not take (relayer-api 6.1).\n[[nodiscard]] net::HttpResponse admin_error(int status, std::string_view text);\n$1|' src/api/envelope.hpp
    perl -0pi -e 's|(\n\}  // namespace api\n)$|\nnet::HttpResponse admin_error(int status, std::string_view text) {\n    net::HttpResponse response;\n    response.status = status;\n    response.headers.emplace_back("Cache-Control", "no-store");\n    response.body = Json{{"error", text}}.dump(-1, \x27 \x27, false, Json::error_handler_t::replace);\n    return response;\n}\n$1|' src/api/envelope.cpp
    git add src/api/envelope.hpp src/api/envelope.cpp
fi
if [ ! -f src/api/docs/meson.build ] && grep -q "docs/embed.py" src/api/meson.build; then
    perl -0ne 'print $1 if /(# GET \/docs and.*?\n\)\n)/s' src/api/meson.build | sed "s|'docs/|'|g" > src/api/docs/meson.build
    perl -0pi -e 's/# GET \/docs and.*?\n\)\n/subdir(\x27docs\x27)\n/s' src/api/meson.build
    git add src/api/docs/meson.build src/api/meson.build
fi
