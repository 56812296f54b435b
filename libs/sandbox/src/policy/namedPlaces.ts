/**
 * Places that settings name. Where one of them leads through a link in a folder that commands write, a command may have made the
 * link: the place would be of its choosing. Reads only.
 */
import { dirname, join } from "node:path"
import { findAll, pathsOf, targetOf } from "../disk/pathsOnDisk.ts"
import { isWithin } from "./mounts.ts"

export interface NamedPlace {
  /** Absolute. */
  readonly path: string
  /** The setting that names it, such as `sandbox.write`. Absent: Reprise does itself, and leaves it out instead of refusing it. */
  readonly by?: string
}

const longestChain = 40

/** The links that the kernel follows on the way to a path, each where it really is. */
export const linksOnTheWay = (path: string): ReadonlyArray<string> => {
  const links: Array<string> = []
  const waiting = path.split("/")
  let at = "/"
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (name === "" || name === ".") continue
    const next = name === ".." ? dirname(at) : join(at, name)
    const target = name === ".." ? undefined : targetOf(next)
    if (target === undefined) {
      at = next
      continue
    }
    links.push(next)
    if (links.length > longestChain) break
    if (target.startsWith("/")) at = "/"
    waiting.unshift(...target.split("/"))
  }
  return links
}

const refusal = ({ by = "", path }: NamedPlace, link: string) => {
  const [found] = pathsOf(findAll([path]))
  const leads = found === undefined ? "" : `, and leads to ${found}`
  const where = link === path ? "which is a link" : `but ${link} is a link`
  return new Error(
    `${by} names ${path}, ${where} in a folder that commands can write${leads}. A command may have made it, so no command runs here. ` +
      "Remove the link. If it is yours, name in its place the folder or file that you mean."
  )
}

/**
 * What exists of the places, real. Throws where one of a setting leads through a link that a command could have made.
 * `writable`: real folders in which commands write.
 */
export const findNamed = (
  places: ReadonlyArray<NamedPlace>,
  writable: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const trusted: Array<string> = []
  for (const place of places) {
    const link = linksOnTheWay(place.path).find((one) =>
      writable.some((folder) => one !== folder && isWithin(one, folder))
    )
    if (link === undefined) trusted.push(place.path)
    else if (place.by !== undefined) throw refusal(place, link)
  }
  return pathsOf(findAll(trusted))
}

/** The same for places to write, of which one may lie in another. `writable`: besides these. */
export const findNamedToWrite = (
  places: ReadonlyArray<NamedPlace>,
  writable: ReadonlyArray<string>
): ReadonlyArray<string> => {
  // First against those that no link decides about: what a link of a command's leads to must accuse no other.
  const direct = places.map(({ path }) => path).filter((path) => linksOnTheWay(path).length === 0)
  const found = findNamed(places, [...writable, ...pathsOf(findAll(direct))])
  return findNamed(places, [...writable, ...found])
}
