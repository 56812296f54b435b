/**
 * Sockets with a path that programs of this machine listen on: the network's namespace does not separate them. The kernel lists those
 * of its own network that were bound by an absolute path; one of a container, or bound from its own folder, is only found where it
 * lies. Reads only.
 */
import { readFile } from "node:fs/promises"
import { connect } from "node:net"
import { hasCode } from "@reprise/process"
import { Effect, Option } from "effect"
import { findPaths, textOfPath } from "../disk/findPaths.ts"
import { findAll, pathsOf } from "../disk/pathsOnDisk.ts"
import { isWithin } from "./mounts.ts"

/** The paths in `/proc/net/unix` (proc(5)) that somebody listens on, or receives datagrams at. A path may hold blanks. Pure. */
export const socketPathsIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    const [, flags, type, path] = /^\S+: \S+ \S+ (\S+) (\S+) \S+ +\d+ (\/.*)$/.exec(line) ?? []
    return path !== undefined && (flags === "00010000" || type === "0002") ? [path] : []
  })

const listedByKernel = async (): Promise<ReadonlyArray<string>> => {
  const text = await readFile("/proc/net/unix", "utf8").catch((error) =>
    hasCode(error, "ENOENT") ? "" : Promise.reject(error)
  )
  return pathsOf(findAll(socketPathsIn(text)))
}

/** Longer than most take; a home folder may be on a slow disk. The workspace is searched whole, as for repositories. */
const searchTime = "3 seconds"
const mostBytes = 1024 * 1024
const passedOver = ["(", "-name", "node_modules", "-o", "-name", ".git", ")", "-prune", "-o"]
/** Further down there are the sources and packages of everything. */
const depthInHome = 4

const search = (args: ReadonlyArray<string>, path: string) =>
  Effect.map(findPaths([...args, "-type", "s", "-print0"], { mostBytes, search: path }), ({ paths }) =>
    paths.flatMap((bytes) => textOfPath(bytes) ?? [])
  )

const inTime = (found: ReturnType<typeof search>) =>
  Effect.map(
    Effect.timeoutOption(found, searchTime),
    Option.getOrElse((): ReadonlyArray<string> => [])
  )

/** No command of an agent makes one there, and a command's policy may be older than that anyway. */
const believedMs = 60_000

const searchesOfHome = new Map<string, { readonly since: number; readonly found: Promise<ReadonlyArray<string>> }>()

/** The search takes long in a home folder with much in it, so its answer is used again for a while. */
const inHomeFolder = (home: string, programs: string): Promise<ReadonlyArray<string>> => {
  const known = searchesOfHome.get(home)
  if (known !== undefined && performance.now() - known.since < believedMs) return known.found
  const args = [home, "-xdev", "-maxdepth", `${depthInHome}`, ...passedOver]
  const found = Effect.runPromise(inTime(search(args, programs)))
  searchesOfHome.set(home, { since: performance.now(), found })
  // Whoever asks next searches again.
  found.catch(() => searchesOfHome.delete(home))
  return found
}

const patienceMs = 500

/** A command may have left a socket behind, which its next one wants to remove: nobody listens there. */
const answers = (path: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(path)
    const end = (isAnswered: boolean) => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket.setTimeout(patienceMs, () => end(true))
    socket.once("connect", () => end(true))
    // What takes no streams, or is too busy, is there.
    socket.once("error", (error: NodeJS.ErrnoException) => end(!["ECONNREFUSED", "ENOENT"].includes(error.code ?? "")))
  })

interface Where {
  /** Real. */
  readonly home: string | undefined
  readonly workspace: string
  /** Besides the workspace. */
  readonly writable: ReadonlyArray<string>
  /** The `PATH` on which `find` is looked up. */
  readonly programs: string
}

/** Real paths. */
export const foreignSockets = async (where: Where): Promise<ReadonlyArray<string>> => {
  const { home, programs, workspace } = where
  const writable = [workspace, ...where.writable]
  const roots = new Set(writable.filter((one) => !writable.some((other) => other !== one && isWithin(one, other))))
  const others = [...roots].filter((root) => root !== workspace)
  const [listed, inWorkspace, inOthers, inHome] = await Promise.all([
    listedByKernel(),
    Effect.runPromise(search([workspace], programs)),
    others.length === 0 ? [] : Effect.runPromise(inTime(search([...others, "-xdev"], programs))),
    home === undefined ? [] : inHomeFolder(home, programs)
  ])
  const isWritable = (path: string) => writable.some((folder) => isWithin(path, folder))
  const unlisted = [...new Set([...inWorkspace, ...inOthers])].filter((path) => !listed.includes(path))
  const answering = await Promise.all(unlisted.map(answers))
  const all = [...listed, ...unlisted.filter((_, at) => answering[at]), ...inHome.filter((path) => !isWritable(path))]
  return [...new Set(all)].filter((path) => !/^\/(run|dev|proc|sys)\//.test(path))
}
