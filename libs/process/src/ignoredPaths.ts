/** Which paths rules say to ignore, as git answers it. */
import { Effect } from "effect"
import { bytesOf, refused } from "./ownIndex.ts"
import { asBuffer, type Bytes } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"

/**
 * git takes the paths for pathspecs, though it refuses to have them read literally: a folder `:` would be the whole tree, and `:!a`
 * is an error. So each begins with this, in what git answers too.
 */
const beginning = "./"

/** A path as git answered it. Pure. */
export const withoutBeginning = (path: Bytes): Bytes =>
  path.startsWith(beginning) ? path.slice(beginning.length) : path

/**
 * The fields that git prints of those of some paths that a rule hides: with `--verbose` the source, line and pattern of the rule
 * come before each path. `paths`: relative to the top of the working tree.
 */
export const ignoredPaths = Effect.fn("ignoredPaths")(function* (
  directory: string,
  paths: ReadonlyArray<Bytes>,
  more: ReadonlyArray<"--verbose">,
  options: GitOptions
) {
  const args = ["--no-literal-pathspecs", "check-ignore", ...more, "--no-index", "-z", "--stdin"]
  const input = asBuffer(paths.map((path) => `${beginning}${path}\0`).join(""))
  const asked = yield* bytesOf(directory, args, { ...options, input })
  return asked.exitCode > 1 ? yield* refused("check-ignore", asked) : asked.bytes
})
