/**
 * Where a state folder comes from. `.reprise` can come with a repository, tracked or copied, and forged state would run
 * commands. It is believed only if this machine made it, here: `origin.json` has a signature of its place, made with a
 * secret that is kept elsewhere (docs/design/workspace.md#workspace).
 */
import { lstatSync, realpathSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { onDisk, prepareDirectory } from "@reprise/nats"
import { readForeignFolder, readPrivateFile, replaceFile } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { type CliFailure, missing } from "../terminal/CliFailure.ts"
import { identifyClone, readClone } from "./cloneId.ts"
import { linksBelow } from "./linksBelow.ts"
import { isSigned, sign } from "./machineSecret.ts"
import type { Project } from "./Project.ts"
import { isTracked } from "./trackedFiles.ts"

/** `None`: there is no state yet. `Own`: this machine made it here. */
type Origin =
  | { readonly _tag: "None" }
  | { readonly _tag: "Own" }
  | { readonly _tag: "Doubtful"; readonly why: string; readonly tracked: boolean }

const doubtful = (why: string, tracked = false): Origin => ({ _tag: "Doubtful", why, tracked })

const Signed = Schema.fromJsonString(Schema.Struct({ signature: Schema.String }))
const decodeSigned = Schema.decodeUnknownOption(Signed)

const originFile = ({ directory }: Project) => join(directory, "origin.json")

/** What is signed: this folder, of this clone. */
const placeOf = ({ directory }: Project, cloneId: string) =>
  JSON.stringify(["reprise-state", 1, realpathSync(directory), cloneId])

/** A user may write prompts before anything ran here. What a crash left of the first signature means nothing. */
const isInert = (name: string) => name === "prompts" || name.startsWith("origin.json.")

/** Why a folder, as it lies there, cannot be state; `empty`: nothing in it needs to be believed. */
const lookAt = async ({ directory }: Project): Promise<Origin | "empty" | "filled"> => {
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found === undefined) return { _tag: "None" }
  if (!found.isDirectory()) return doubtful(found.isSymbolicLink() ? "it is a link" : "it is not a folder")
  if (process.getuid !== undefined && found.uid !== process.getuid()) return doubtful("it belongs to another user")
  const entries = (await readForeignFolder(directory, { mostEntries: 10_000 })) ?? []
  const linked = entries.find((entry) => entry.isSymbolicLink())?.name
  const link = linked ?? (await linksBelow(join(directory, "prompts")))[0]
  if (link !== undefined) return doubtful(`it has a link in it, ${link}`)
  return entries.every(({ name }) => isInert(name)) ? "empty" : "filled"
}

const originOf = Effect.fnUntraced(function* (project: Project) {
  if (yield* isTracked(project, ".reprise")) return doubtful("git tracks files in it, or cannot tell", true)
  const found = yield* Effect.tryPromise({ try: () => lookAt(project), catch: (error) => doubtful(`${error}`) }).pipe(
    Effect.catch((unreadable) => Effect.succeed(unreadable))
  )
  if (found === "empty") return { _tag: "None" } satisfies Origin
  if (found !== "filled") return found
  const text = yield* Effect.promise(() => readPrivateFile(originFile(project), 4096).catch(() => ""))
  if (text === undefined) return doubtful("it has no signature of this machine")
  const signed = decodeSigned(text)
  const { id } = yield* readClone(project)
  const valid =
    Option.isSome(signed) && id !== undefined && (yield* isSigned(placeOf(project, id), signed.value.signature))
  return valid ? ({ _tag: "Own" } satisfies Origin) : doubtful("its signature is not this machine's for this place")
})

const refusal = ({ directory }: Project, why: string, tracked: boolean): CliFailure =>
  tracked
    ? missing(
        "state-not-trusted",
        `${directory} is not used: ${why}, so somebody else may have made it.`,
        "Reprise's state never belongs in git: 'git rm -r --cached .reprise', commit that, and delete the folder."
      )
    : missing(
        "state-not-trusted",
        `${directory} is not used: ${why}, so somebody else may have made it.`,
        "If you moved or copied it here yourself, or an older Reprise made it, check it, then use " +
          "'reprise trust --state'. Otherwise delete it."
      )

/** Fails with exit code 3 if there is a state folder that this machine did not make here. */
export const requireOwnState = Effect.fn("requireOwnState")(function* (project: Project) {
  const origin = yield* originOf(project)
  if (origin._tag === "Doubtful") return yield* refusal(project, origin.why, origin.tracked)
})

const readably = Effect.mapError((error: { readonly message: string }) =>
  missing("state", error.message, "Check the folder's permissions.", error)
)

const writeOrigin = Effect.fnUntraced(function* (project: Project) {
  const { id } = yield* identifyClone(project)
  yield* onDisk(project.directory, async () => {
    await mkdir(project.directory, { recursive: true, mode: 0o700 })
  }).pipe(readably)
  const signature = yield* sign(placeOf(project, id))
  yield* onDisk(project.directory, () => replaceFile(originFile(project), `${JSON.stringify({ signature })}\n`)).pipe(
    readably
  )
})

/**
 * Makes the state folder, or checks that the existing one is this machine's own and usable. Nothing writes to it before
 * this. Fails with exit code 3.
 */
export const prepareState = Effect.fn("prepareState")(function* (project: Project) {
  const origin = yield* originOf(project)
  if (origin._tag === "Doubtful") return yield* refusal(project, origin.why, origin.tracked)
  // First, so that a process that is killed here leaves no state without a signature.
  if (origin._tag === "None") yield* writeOrigin(project)
  yield* prepareDirectory(project.directory).pipe(readably)
})

export type Adopted = "absent" | "own" | "signed"

/** Signs an existing state folder whose owner has looked at it. Fails with exit code 3 if nothing may be believed in it. */
export const adoptState = Effect.fn("adoptState")(function* (project: Project) {
  const origin = yield* originOf(project)
  if (origin._tag === "Own") return "own" satisfies Adopted
  if (origin._tag === "None") return "absent" satisfies Adopted
  if (origin.tracked) return yield* refusal(project, origin.why, true)
  const found = yield* Effect.tryPromise({
    try: async () =>
      (await lookAt(project)) === "filled" ? await linksBelow(project.directory, ["worktrees"]) : undefined,
    catch: (cause) => missing("state", `${project.directory} cannot be read.`, "Check its permissions.", cause)
  })
  if (found === undefined || found.length > 0) {
    const why = found?.[0] === undefined ? origin.why : `it has a link in it, ${found[0]}`
    return yield* missing(
      "state-not-trusted",
      `${project.directory} cannot be signed: ${why}.`,
      "Its state must be in your own folder without links. Remove other files from it, or delete it."
    )
  }
  yield* writeOrigin(project)
  return "signed" satisfies Adopted
})
