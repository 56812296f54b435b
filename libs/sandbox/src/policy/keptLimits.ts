/** How much may stay as it is while commands run. Pure. */
import { dirname } from "node:path"
import { Schema } from "effect"
import { bubblewrapArguments } from "../command/bubblewrap.ts"
import { largestRecord } from "../command/records.ts"
import { placeIn } from "../nested/lookLimits.ts"
import { isWithin } from "./mounts.ts"
import type { Policy } from "./policy.ts"

export interface KeptLimits {
  /** A program looks at each of them before and after each command: a second. */
  readonly mostPaths: number
  /** Bubblewrap takes 9 000; some are not of the policy. */
  readonly mostArguments: number
  /** Of all paths that a program writes down, with what stands before them. */
  readonly mostBytes: number
}

export const usualLimits: KeptLimits = {
  mostPaths: 50_000,
  mostArguments: 8_900,
  mostBytes: largestRecord / 2
}

/** No sandbox can keep all that a command may not change. */
export class TooMuchToKeep extends Schema.TaggedError<TooMuchToKeep>()("TooMuchToKeep", {
  workspace: Schema.String,
  /** In it lies most of it. */
  folder: Schema.String,
  what: Schema.Literals(["names", "files", "bytes"]),
  most: Schema.Finite
}) {
  override get message() {
    const reason = {
      names: `they would be more than ${this.most} names`,
      files: "they are more than bubblewrap takes",
      bytes: `their paths have more than ${this.most} bytes together`
    }[this.what]
    return (
      `Commands in ${this.workspace} cannot be kept from all files that programs outside of the sandbox would obey: ${reason}, most of them in ${this.folder}. ` +
      "So no command runs here. Each working tree of the repository adds to them: 'git worktree list' lists them, 'git worktree remove' removes one, and 'git worktree prune' those that are gone."
    )
  }
}

/** Of a path in the record, beside itself: the digest of a file, or which folder it is. */
const bytesBeside = 80

/** The folder in which most of the paths lie: one directly below the workspace, else that of the path. */
const mostly = (paths: ReadonlyArray<string>, workspace: string): string => {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const place = isWithin(path, workspace) ? placeIn(workspace, path) : dirname(path)
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? workspace
}

/** Throws `TooMuchToKeep`. */
export const requireFewToKeep = (policy: Policy, limits: KeptLimits = usualLimits): void => {
  const { guarded, kept, mounts, workspace } = policy
  const refuse = (what: TooMuchToKeep["what"], most: number, paths: ReadonlyArray<string>) => {
    throw new TooMuchToKeep({ workspace, folder: mostly(paths, workspace), what, most })
  }
  if (kept.length > limits.mostPaths) refuse("names", limits.mostPaths, kept)
  const words = bubblewrapArguments(policy).reduce((total, one) => total + one.words.length, 0)
  const mounted = mounts.map(({ path }) => path)
  if (words > limits.mostArguments) refuse("files", limits.mostArguments, mounted)
  const written = [...kept, ...guarded, ...mounted]
  const bytes = written.reduce((total, path) => total + Buffer.byteLength(path) + bytesBeside, 0)
  if (bytes > limits.mostBytes) refuse("bytes", limits.mostBytes, written)
}
