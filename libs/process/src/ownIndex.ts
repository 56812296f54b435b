/**
 * How Reprise asks git with an index of its own, in a folder that no command can write: the repository's own index says whatever the
 * last command wrote into it.
 */
import { lstat, mkdir, realpath } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { Effect } from "effect"
import { inGroups } from "./files.ts"
import type { Bytes } from "./pathBytes.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import { ProgramFailed, type ProgramOutput } from "./runProgram.ts"

/** Whatever the configuration says: of a file all is compared, and all stands in the one file, which is read from its beginning to its end. */
export const strictly = [
  ...["core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false", "index.threads=1"],
  ...["core.splitIndex=false", "index.sparse=false", "sparse.expectFilesOutsideOfPatterns=false"]
].flatMap((one) => ["-c", one])

/** Why git did not answer what it had to. */
export class GitEnded extends Error {
  readonly operation: string
  readonly exitCode: number
  readonly stderr: string
  constructor(operation: string, exitCode: number, stderr: string) {
    super(`git ${operation} ended with ${exitCode}: ${stderr.trim().slice(0, 2000)}`)
    this.operation = operation
    this.exitCode = exitCode
    this.stderr = stderr
  }
}

/** Whether git ended as it may not, and was not kept from its work by the machine. */
export const isGits = ({ cause }: ProgramFailed) => cause instanceof GitEnded

const fault = (cause: unknown) => new ProgramFailed({ program: "git", reason: "fault", cause })

/** That a git ended as it may not. */
export const refused = (operation: string, { exitCode, stderr }: Pick<ProgramOutput, "exitCode" | "stderr">) =>
  fault(new GitEnded(operation, exitCode, stderr))

/** Work on files that fails as a git that could not be run does. */
export const onDisk = <A>(run: () => Promise<A>): Effect.Effect<A, ProgramFailed> =>
  Effect.tryPromise({ try: run, catch: fault })

/** What a git wrote that must succeed; else the cause of the failure is a `GitEnded`. */
export const insist = (directory: string, args: ReadonlyArray<string>, options: GitOptions) =>
  Effect.flatMap(runGit(directory, [...strictly, ...args], options), (done) =>
    done.exitCode === 0 ? Effect.succeed(done.stdout) : refused(args[0] ?? "git", done)
  )

/** What a git wrote, byte for byte, and how it ended. */
export const bytesOf = Effect.fnUntraced(function* (
  directory: string,
  args: ReadonlyArray<string>,
  options: GitOptions
) {
  const pieces: Array<Buffer> = []
  const { exitCode, stderr } = yield* runGit(directory, args, { ...options, take: (piece) => void pieces.push(piece) })
  return { bytes: Buffer.concat(pieces).toString("latin1") satisfies Bytes, exitCode, stderr }
})

/** The same of one that must succeed. */
export const insistBytes = (directory: string, args: ReadonlyArray<string>, options: GitOptions) =>
  Effect.flatMap(bytesOf(directory, [...strictly, ...args], options), (done) =>
    done.exitCode === 0 ? Effect.succeed(done) : refused(args[0] ?? "git", done)
  )

/** What is at some paths, in their order; undefined: nothing. */
export const filesAt = (directory: string, paths: ReadonlyArray<string>) =>
  inGroups(paths, (path) => lstat(join(directory, path)).catch(() => undefined))

/** The folder, made if it is missing. No link leads there: an agent could have put it in the place. */
export const ownFolder = (folder: string) =>
  onDisk(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // It lies in a folder of `.reprise`; what is above is the user's.
    const root = dirname(dirname(dirname(folder)))
    if ((await realpath(folder)) !== join(await realpath(root), relative(root, folder))) {
      throw new Error(`${folder} is behind a link. Put folders in the place of links.`)
    }
  })
