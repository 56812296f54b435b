/** How much one look at a workspace may cost, since a command of an agent can make as much to look at as it likes. Pure. */
import { join, relative } from "node:path"
import { Schema } from "effect"
import { isWithin } from "../policy/mounts.ts"

/** Takes so much from what a look may cost. Throws `TooMuchToLookAt` when nothing is left. */
export type Spend = (cost: number) => void

export const unlimited: Spend = () => {}

const pageBytes = 4096

/** One look at a file or a folder, one more for each 4 KB that are read or remembered of it. */
export const costOf = (bytes = 0): number => 1 + Math.floor(bytes / pageBytes)

/** To start git, compared with a look at a file. */
export const costOfGit = 10

/** Ten seconds, and 400 MB read. */
const mostLooks = 100_000

/** Nobody can compare all that programs outside of the sandbox would obey. */
export class TooMuchToLookAt extends Schema.TaggedError<TooMuchToLookAt>()("TooMuchToLookAt", {
  workspace: Schema.String,
  /** Directly below the workspace, and in it lies most of what there is to look at. */
  path: Schema.String
}) {
  override get message() {
    return (
      `${this.workspace} has more skills, hooks and files that configurations of git name than can be compared, most of them in ${this.path}. ` +
      "Programs outside of the sandbox would obey them, so nothing goes on here. Remove what does not belong there."
    )
  }
}

/** The folder directly below the workspace in which a path lies; one that lies elsewhere itself. */
export const placeIn = (workspace: string, path: string): string =>
  isWithin(path, workspace) ? join(workspace, relative(workspace, path).split("/")[0] ?? "") : path

/** Gives out what one look may cost, to each path on the account of the place where it lies. */
export const makeSpending = (workspace: string, most = mostLooks): ((path: string) => Spend) => {
  const spent = new Map<string, number>()
  let left = most
  return (path) => {
    const place = placeIn(workspace, path)
    return (cost) => {
      spent.set(place, (spent.get(place) ?? 0) + cost)
      left -= cost
      if (left >= 0) return
      const [first = [place]] = [...spent].toSorted(([, one], [, other]) => other - one)
      throw new TooMuchToLookAt({ workspace, path: first[0] })
    }
  }
}
