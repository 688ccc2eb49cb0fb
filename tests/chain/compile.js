// Compiles every contract of the folder `contracts`: node compile.js OUTPUT.json
// OUTPUT holds {name: {abi, code}}, code being what stands at a contract's address.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const solc = createRequire(join(here, '..', 'tools', 'package.json'))('solc');

const folder = join(here, 'contracts');
const sources = {};
for (const name of readdirSync(folder).filter((file) => file.endsWith('.sol')))
  sources[name] = { content: readFileSync(join(folder, name), 'utf8') };

const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources,
      settings: {
        evmVersion: 'cancun',
        optimizer: { enabled: true, runs: 200 },
        outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object'] } },
      },
    }),
  ),
);

const problems = output.errors ?? [];
for (const problem of problems) console.error(problem.formattedMessage);
if (problems.length) process.exit(1);

const contracts = {};
for (const file of Object.values(output.contracts))
  for (const [name, { abi, evm }] of Object.entries(file))
    contracts[name] = { abi, code: '0x' + evm.deployedBytecode.object };

const target = process.argv[2];
writeFileSync(target + '.part', JSON.stringify(contracts));
renameSync(target + '.part', target);
