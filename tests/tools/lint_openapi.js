// Reads an OpenAPI document from standard input, prints one line per problem, fails if there is one.

import { readFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";

const rules = {
  // The document has no license of its own.
  "info-license": "off",
  // Nothing can be asked wrongly of /metrics and /health.
  "operation-4xx-response": "off",
  // Does not look into extensions; openapi_test.py does.
  "no-unused-components": "off",
  "no-invalid-media-type-examples": "error",
  "no-invalid-parameter-examples": "error",
  "operation-description": "error",
  "operation-singular-tag": "error",
  "operation-tag-defined": "error",
  "tag-description": "error",
  "no-path-trailing-slash": "error",
  "path-params-defined": "error",
};

const config = await createConfig({ extends: ["recommended-strict"], rules });
const problems = await lintFromString({
  source: readFileSync(0, "utf8"),
  absoluteRef: "openapi.json",
  config,
});
for (const { severity, ruleId, message, location } of problems) {
  console.log(`${location[0]?.pointer ?? "#/"}: ${message} (${ruleId}, ${severity})`);
}
console.log(`${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
