/** Writes the accounts into the configurations of servers: `npm run accounts`. */
import { compare, configurations } from "./configurations.ts"

for (const configuration of configurations) {
  const { expected, found, write } = compare(configuration)
  if (found !== expected) write(expected)
  process.stdout.write(`${configuration.path}: ${found === expected ? "unchanged" : "written"}\n`)
}
