/**
 * `npm test [-- KIND] [PATH …]`: tests, by vitest, whose options it takes. Without a kind those that are not long, without containers.
 * Each kind leaves a report in `coverage/KIND.json`.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { agentsOf } from "./agents/agentsOf.ts"

const repository = join(import.meta.dirname, "..")

interface Run {
  readonly options: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

const projects = (...names: ReadonlyArray<string>) => names.map((name) => `--project=${name}`)

const kinds: Readonly<Record<string, (words: ReadonlyArray<string>) => Run | undefined>> = {
  /** All but those on other vendors' agents. */
  all: (words) => ({ options: words }),
  unit: (words) => ({ options: [...projects("unit"), ...words] }),
  integration: (words) => ({ options: [...projects("integration", "containers"), ...words] }),
  e2e: (words) => ({ options: [...projects("e2e"), ...words] }),
  /** That tests which need a container engine are skipped without one. */
  "without-engine": (words) => ({
    options: [...projects("containers"), ...words],
    environment: { REPRISE_TEST_ENGINE: "none" }
  }),
  /** On a cluster of containers; `REPRISE_CLUSTER_RUNS` runs at once. */
  cluster: (words) => ({
    options: [...projects("containers"), "test/containers/cluster.int.test.ts", ...words],
    environment: { REPRISE_CLUSTER_RUNS: process.env["REPRISE_CLUSTER_RUNS"] ?? "20" }
  }),
  agents: agentsOf
}

const [kind = "", ...words] = process.argv.slice(2)
const ofKind = kinds[kind]
const run =
  ofKind === undefined
    ? { options: ["--project=!containers", "--tagsFilter=!long", ...process.argv.slice(2)] }
    : ofKind(words)
if (run === undefined) process.exit(2)
const report =
  ofKind === undefined ? [] : ["--reporter=default", "--reporter=json", `--outputFile.json=coverage/${kind}.json`]
const { status } = spawnSync("vitest", ["run", ...report, ...run.options], {
  cwd: repository,
  stdio: "inherit",
  env: { ...process.env, ...run.environment }
})
process.exit(status ?? 1)
