/** Folders with a lock file of their own, which the root's `npm ci` leaves out: each is installed when it is first needed. */
import { spawnSync } from "node:child_process"
import { statSync } from "node:fs"
import { join } from "node:path"
import { repository } from "./sources.ts"

const changedMs = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Whether the folder, relative to the repository, is installed as its lock file has it now. */
export const isInstalled = (folder: string): boolean =>
  changedMs(join(repository, folder, "node_modules/.package-lock.json")) >=
  changedMs(join(repository, folder, "package-lock.json"))

/** Installs the folder, if necessary; `what` it holds, and its size, is told. False if that failed: npm has then said why. */
export const installFolder = (folder: string, what: string): boolean => {
  if (isInstalled(folder)) return true
  process.stderr.write(`Installing ${what} into ${folder}/node_modules.\n`)
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: join(repository, folder),
    stdio: "inherit"
  })
  if (status === 0) return true
  process.stderr.write(`That failed: 'npm ci --prefix ${folder}' says more.\n`)
  return false
}
