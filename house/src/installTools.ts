/**
 * The tools that only check the code: Biome, the type checkers, turbo, Stryker and what looks at imports. They are 425 MB,
 * more than everything else that `npm ci` installs but Node and OpenCode, so they have a folder with a lock file of their
 * own and are installed when one is first needed.
 */
import { spawnSync } from "node:child_process"
import { statSync } from "node:fs"
import { delimiter, join } from "node:path"
import { repository } from "./sources.ts"

const folder = join(repository, "house/tools")

/** Where a tool's package is, once it is installed. */
export const toolPackage = (name: string): string => join(folder, "node_modules", name)

const changedMs = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Whether they are missing, or older than their lock file. */
export const lacksTools = (): boolean => changedMs("node_modules/.package-lock.json") < changedMs("package-lock.json")

/** Installs them, if necessary. False if that failed; npm has then said why. */
export const installTools = (): boolean => {
  if (!lacksTools()) return true
  process.stderr.write("Installing the tools of the checks into house/tools/node_modules: 425 MB, about a minute.\n")
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" })
  if (status === 0) return true
  process.stderr.write("The tools could not be installed. 'npm ci --prefix house/tools' says more.\n")
  return false
}

const before = (path: string, others: string | undefined): string =>
  others === undefined || others === "" ? path : `${path}${delimiter}${others}`

/** An environment in which a program and the scripts that it runs find the tools, and the tools each other. */
export const withTools = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  PATH: before(join(folder, "node_modules/.bin"), environment["PATH"]),
  // `effect-tsgo` looks for the compiler from the folder that it checks.
  NODE_PATH: before(join(folder, "node_modules"), environment["NODE_PATH"]),
  TURBO_TELEMETRY_DISABLED: "1"
})
