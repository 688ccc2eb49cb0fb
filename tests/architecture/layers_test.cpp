#include "layers.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_directory.hpp"

TEST_CASE("no layer of src includes one to its right, nor a peer") {
    const std::vector<std::string> violations =
        architecture::violations_below(POSTHOUSE_SOURCE_ROOT);
    for (const std::string& violation : violations) MESSAGE(violation);
    CHECK(violations.empty());
}

TEST_CASE("a turn of the layer order is found") {
    struct Row {
        std::string_view label;
        std::string_view path;
        std::string_view text;
        std::vector<std::string> expected;
    };
    const std::vector<Row> rows{
        {"leftwards",
         "src/engine/a.cpp",
         "#include \"engine/a.hpp\"\n#include <vector>\n#include \"store/s.hpp\"\n#include "
         "\"domain/d.hpp\"\n",
         {}},
        {"downwards in a layer",
         "src/chains/evm/a.cpp",
         "#include \"chains/jsonrpc/node.hpp\"\n#include \"chains/evm/fees.hpp\"",
         {}},
        {"two folders down",
         "src/chains/votes/rest/a.cpp",
         "#include \"chains/votes/options.hpp\"",
         {}},
        {"upwards in a layer",
         "src/chains/jsonrpc/a.cpp",
         "#include \"chains/evm/fees.hpp\"",
         {"src/chains/jsonrpc/a.cpp:1: chains/jsonrpc includes chains/evm"}},
        {"a peer in a layer",
         "src/chains/votes/a.cpp",
         "#include \"chains/evm/fees.hpp\"",
         {"src/chains/votes/a.cpp:1: chains/votes includes chains/evm"}},
        {"the layer's own files",
         "src/api/access/a.cpp",
         "#include \"api/router.hpp\"",
         {"src/api/access/a.cpp:1: api/access includes api"}},
        {"an unknown part",
         "src/api/new/a.cpp",
         "#include \"api/router.hpp\"",
         {"src/api/new/a.cpp:1: api/new has no place in its layer"}},
        {"folder is namespace",
         "src/chains/evm/a.cpp",
         "namespace chains::evm {\nnamespace {\nnamespace abi {\n",
         {}},
        {"a namespace inside", "src/engine/a.hpp", "namespace engine::sending {\n", {}},
        {"a name of another library", "src/platform/a.hpp", "namespace spdlog {\n", {}},
        {"the namespace above",
         "src/chains/evm/a.hpp",
         "namespace chains {\nint a();\n}\n",
         {"src/chains/evm/a.hpp:1: namespace chains instead of chains::evm"}},
        {"another namespace",
         "src/chains/evm/a.hpp",
         "\nnamespace chains::votes {\n\nclass A {\n",
         {"src/chains/evm/a.hpp:2: namespace chains::votes instead of chains::evm"}},
        {"a class of another",
         "src/chains/evm/a.hpp",
         "namespace net {\nclass Client;\n}\n\nnamespace chains::evm {\nclass A {\n",
         {}},
        {"rightwards",
         "src/store/rows.hpp",
         "#pragma once\n\n#include \"engine/inbox.hpp\"\n",
         {"src/store/rows.hpp:3: store includes engine"}},
        {"a peer",
         "src/api/routes.cpp",
         "#include \"chains/loopback/options.hpp\"\n",
         {"src/api/routes.cpp:1: api includes chains"}},
        {"another peer",
         "src/platform/log.cpp",
         "  #  include\t\"api/options.hpp\"",
         {"src/platform/log.cpp:1: platform includes api"}},
        {"below a folder",
         "src/chains/evm/rlp.cpp",
         "#include \"config/load.hpp\"",
         {"src/chains/evm/rlp.cpp:1: chains includes config"}},
        {"all from main",
         "src/main.cpp",
         "#include \"config/load.hpp\"\n#include \"domain/d.hpp\"\n#include "
         "\"net/http_server.hpp\"",
         {}},
        {"commented out", "src/domain/a.hpp", "// #include \"store/store.hpp\"", {}},
        {"relative",
         "src/chains/loopback/a.cpp",
         "#include \"../options.hpp\"",
         {"src/chains/loopback/a.cpp:1: relative include \"../options.hpp\""}},
        {"hidden relative",
         "src/chains/a.cpp",
         "#include \"chains/../store/store.hpp\"",
         {"src/chains/a.cpp:1: relative include \"chains/../store/store.hpp\""}},
        {"neighbour",
         "src/store/a.cpp",
         "#include \"rows.hpp\"",
         {"src/store/a.cpp:1: include \"rows.hpp\" is not rooted at src"}},
        {"unknown folder",
         "src/store/a.cpp",
         "#include \"util/rows.hpp\"",
         {"src/store/a.cpp:1: include \"util/rows.hpp\" is not rooted at src"}},
        {"SQLite at home", "src/store/a.cpp", "#include <SQLiteCpp/Database.h>", {}},
        {"SQLite in the engine",
         "src/engine/a.cpp",
         "#include <SQLiteCpp/Database.h>",
         {"src/engine/a.cpp:1: engine includes <SQLiteCpp/Database.h>, which is not at home "
          "there"}},
        {"the journal above the store",
         "src/cluster/a.cpp",
         "#include <libpq-fe.h>\n#include \"store/s.hpp\"\n#include \"ports/clock.hpp\"",
         {}},
        {"the engine in the journal",
         "src/cluster/a.cpp",
         "#include \"engine/e.hpp\"",
         {"src/cluster/a.cpp:1: cluster includes engine"}},
        {"PostgreSQL in the engine",
         "src/engine/a.cpp",
         "#include <libpq-fe.h>\n#include \"cluster/database.hpp\"",
         {"src/engine/a.cpp:1: engine includes <libpq-fe.h>, which is not at home there"}},
        {"JSON in the domain",
         "src/domain/a.hpp",
         "#include <nlohmann/json.hpp>",
         {"src/domain/a.hpp:1: domain includes <nlohmann/json.hpp>, which is not at home there"}},
        {"JSON in quotes",
         "src/store/a.hpp",
         "#include \"nlohmann/json.hpp\"",
         {"src/store/a.hpp:1: store includes <nlohmann/json.hpp>, which is not at home there"}},
        {"command line in the api",
         "src/api/a.cpp",
         "\n#include <CLI/CLI.hpp>",
         {"src/api/a.cpp:2: api includes <CLI/CLI.hpp>, which is not at home there"}},
        {"tests in the source",
         "src/main.cpp",
         "#include <doctest/doctest.h>",
         {"src/main.cpp:1: main includes <doctest/doctest.h>, which is not at home there"}},
        {"a folder nobody knows",
         "src/util/a.cpp",
         "",
         {"src/util/a.cpp: stands in no known layer"}},
        {"several",
         "src/domain/a.cpp",
         "#include \"main.hpp\"\n#include \"api/a.hpp\"\n",
         {"src/domain/a.cpp:1: include \"main.hpp\" is not rooted at src",
          "src/domain/a.cpp:2: domain includes api"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(architecture::violations_in(row.path, row.text) == row.expected);
    }
}

TEST_CASE("files are found in folders of any depth, headers and sources alike") {
    const support::TempDirectory root;
    for (const std::string_view folder : {"src/domain", "src/store/deep/deeper", "src/api"}) {
        std::filesystem::create_directories(root.path() / folder);
    }
    std::ofstream{root.path() / "src/domain/a.hpp"} << "#include \"store/s.hpp\"\n";
    std::ofstream{root.path() / "src/store/deep/deeper/b.cpp"} << "\n#include \"api/s.hpp\"\n";
    std::ofstream{root.path() / "src/api/c.cpp"} << "#include \"engine/e.hpp\"\n";
    std::ofstream{root.path() / "src/api/notes.txt"} << "#include \"config/e.hpp\"\n";
    CHECK(architecture::violations_below(root.path()) ==
          std::vector<std::string>{"src/domain/a.hpp:1: domain includes store",
                                   "src/store/deep/deeper/b.cpp:2: store includes api"});
}
