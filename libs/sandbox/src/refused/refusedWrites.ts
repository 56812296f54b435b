/** What the disk and a policy say about a path that a command says it could not write. Reads only. */
import { lstat, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, normalize } from "node:path"
import { readForeignFolder } from "@reprise/process"
import { type Bounds, isClosed, isOpenPlace } from "../policy/openPlaces.ts"
import { type Found, type Policy, seenAs } from "../policy/policy.ts"
import type { RefusedWrite } from "./decider.ts"

/** A folder with more in it is not looked through, so nobody is asked about it. */
const mostEntries = 2_000

const kindOf = async (path: string): Promise<Found["kind"] | undefined> => {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isDirectory() === true) return "folder"
  return found?.isFile() === true ? "file" : undefined
}

/** Real; the file itself, or the nearest folder above it that exists. Undefined: neither, such as a socket. */
const nearest = async (path: string): Promise<Found | undefined> => {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined) return path === "/" ? undefined : nearest(dirname(path))
  const kind = await kindOf(real)
  return kind === undefined ? undefined : { path: real, kind }
}

/** Whether something in the folder must stay as it is: what is allowed holds for all of it. */
const holdsClosed = async (folder: string): Promise<boolean> => {
  let entries = 0
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const at = next
    const found = await readForeignFolder(next, { mostEntries: mostEntries - entries }).catch(() => undefined)
    if (found === undefined) return true
    entries += found.length
    if (found.some(({ name }) => isClosed(join(at, name)))) return true
    for (const entry of found) if (entry.isDirectory()) waiting.push(join(next, entry.name))
  }
  return false
}

/** Whether commands may be let write there, however it is wished. */
export const mayBeOpened = async (path: string, bounds: Bounds): Promise<boolean> => {
  const found = await nearest(path)
  // A link that somebody has made meanwhile leads elsewhere.
  if (found === undefined || found.path !== path || !isOpenPlace(found, bounds)) return false
  return found.kind === "file" || !(await holdsClosed(found.path))
}

/** Undefined: the sandbox does not refuse this. */
export const lookAtRefused = async (
  path: string,
  policy: Policy,
  bounds: Bounds
): Promise<Omit<RefusedWrite, "failed"> | undefined> => {
  if (!isAbsolute(path)) return undefined
  const wanted = normalize(path).replace(/(.)\/$/, "$1")
  const found = await nearest(wanted)
  const seen = seenAs(policy, found?.path ?? wanted)
  // What lies in a folder of its own there is another file than the machine's.
  if (seen?.as === "writable") return undefined
  if (found === undefined || !(await mayBeOpened(found.path, bounds))) return { path: wanted }
  return { path: wanted, place: found.path }
}
