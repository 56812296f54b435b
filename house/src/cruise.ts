/** Runs dependency-cruiser with the repository's own rules and reads its result. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import type { Import } from "./layers.ts"
import { repository } from "./sources.ts"

export interface Violation {
  readonly rule: string
  readonly from: string
  readonly to: string
}

export interface Cruise {
  readonly imports: ReadonlyArray<Import>
  readonly violations: ReadonlyArray<Violation>
}

interface Output {
  readonly modules: ReadonlyArray<{
    readonly source: string
    readonly dependencies: ReadonlyArray<{ readonly resolved: string }>
  }>
  readonly summary: {
    readonly violations: ReadonlyArray<{
      readonly rule: { readonly name: string }
      readonly from: string
      readonly to: string
    }>
  }
}

const program = join(repository, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs")

/** What the files in `places`, relative to `root`, import, and which rules of `root`'s configuration they break. */
export const cruise = (root: string, places: ReadonlyArray<string>): Cruise => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, "--config", ".dependency-cruiser.cjs", "--output-type", "json", ...places],
    { cwd: root, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 }
  )
  if (!stdout.startsWith("{")) throw new Error(`dependency-cruiser gave no result in ${root}: ${stderr}`)
  const { modules, summary }: Output = JSON.parse(stdout)
  return {
    imports: modules.flatMap(({ source, dependencies }) =>
      dependencies.map(({ resolved }) => ({ from: source, to: resolved }))
    ),
    violations: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
  }
}
