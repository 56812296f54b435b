/** Runs dependency-cruiser with the repository's own rules and reads its result. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Import } from "./floors.ts"
import { toolPackage } from "./installTools.ts"

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

const program = join(toolPackage("dependency-cruiser"), "bin/dependency-cruiser.mjs")

/** What the files in `places`, relative to `root`, import, and which rules of `root`'s configuration they break. */
export const cruise = (root: string, places: ReadonlyArray<string>): Cruise => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-cruise-"))
  try {
    const file = join(folder, "result.json")
    const options = ["--config", ".dependency-cruiser.cjs", "--output-type", "json", "--output-to", file]
    const { status, stderr } = spawnSync(process.execPath, [program, ...options, ...places], {
      cwd: root,
      encoding: "utf8"
    })
    if (status !== 0) throw new Error(`dependency-cruiser failed in ${root}: ${stderr}`)
    return readCruise(JSON.parse(readFileSync(file, "utf8")))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const readCruise = ({ modules, summary }: Output): Cruise => ({
  imports: modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: source, to: resolved }))
  ),
  violations: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
})
