/**
 * The tools that only check the code: Biome, the type checkers, turbo, Stryker and what looks at imports. They are 425 MB,
 * more than everything else that `npm ci` installs but Node and OpenCode, so they have a folder with a lock file of their
 * own and are installed when one is first needed.
 */
import { delimiter, join } from "node:path"
import { installFolder, isInstalled } from "./installFolder.ts"
import { repository } from "./sources.ts"

const tools = "house/tools"
const folder = join(repository, tools)

/** Where a tool's package is, once it is installed. */
export const toolPackage = (name: string): string => join(folder, "node_modules", name)

/** Whether they are missing, or older than their lock file. */
export const lacksTools = (): boolean => !isInstalled(tools)

/** Installs them, if necessary. False if that failed. */
export const installTools = (): boolean => installFolder(tools, "the tools of the checks (425 MB)")

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
