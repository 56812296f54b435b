/** git on the repository's side of a clone. */
import { join } from "node:path"
import { type ProgramFailed, type ProgramOutput, runGit } from "@reprise/process"
import { Effect, Schema } from "effect"
import type { Environment } from "../git/askGit.ts"

/** What an agent committed did not get into the repository, or what is there did not get into the clone. */
export class CloneRefused extends Schema.TaggedError<CloneRefused>()("CloneRefused", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `What was committed in the sandbox was not taken into ${this.directory}: ${this.reason}`
  }
}

export interface Here {
  readonly workspace: string
  /** The git directory of the working tree, or of a submodule. */
  readonly directory: string
  /** Of the user. */
  readonly environment: Environment
}

/** Of the largest work of a turn. */
const timeoutMs = 20 * 60_000

export interface Reaching {
  /** Of a git that reaches the clone. */
  readonly settings: ReadonlyArray<string>
  /** Where it writes objects. */
  readonly objects: string
  readonly input?: string
}

/** A submodule may name a tree that is not there, so none counts but the workspace. */
export const gitIn = (
  { directory, environment, workspace }: Here,
  args: ReadonlyArray<string>,
  reaching?: Reaching
): Effect.Effect<ProgramOutput, ProgramFailed> =>
  runGit(workspace, [`--git-dir=${directory}`, `--work-tree=${workspace}`, ...args], {
    environment,
    timeoutMs,
    ...(reaching === undefined
      ? {}
      : {
          ...{ settings: reaching.settings, reachesRemotes: true, input: reaching.input ?? "" },
          place: {
            ...{ gitDirectory: directory, workTree: workspace, index: join(directory, "index") },
            objects: reaching.objects
          }
        })
  })

/** What git says of why it failed, as a reason. */
export const reasonIn = (stderr: string): string => stderr.trim().slice(0, 1_000)

/** What it writes. Fails with `CloneRefused` where git ends with another exit code than 0. */
export const insistIn = Effect.fnUntraced(function* (here: Here, args: ReadonlyArray<string>, reaching?: Reaching) {
  const { exitCode, stderr, stdout } = yield* gitIn(here, args, reaching)
  if (exitCode !== 0) return yield* new CloneRefused({ directory: here.directory, reason: reasonIn(stderr) })
  return stdout
})
