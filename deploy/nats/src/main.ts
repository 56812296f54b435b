/** `node deploy/nats/src/main.ts FOLDER [--name NAME]…`: the keys of a NATS cluster (docs/operations.md#identities). */
import { parseArgs } from "node:util"
import { makeKeys } from "./makeKeys.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { name: { type: "string", multiple: true, default: [] } }
})
const [folder] = positionals

if (folder === undefined || positionals.length > 1) {
  process.stderr.write("Usage: node deploy/nats/src/main.ts FOLDER [--name NAME-OR-ADDRESS-OF-A-SERVER]…\n")
  process.exitCode = 2
} else {
  for (const { outcome, path } of makeKeys(folder, values.name)) process.stdout.write(`${outcome} ${path}\n`)
}
